#include "jit/kernel/set_tables.hpp"
#include "lib/sets/set_order.hpp"
#include "lib/sets/set_tables.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace libperm {
namespace {

constexpr std::array<double, set_block> no_numbers{};

static_assert(set_low_lines == set_block_bits && set_chunk_sets == chunk_sets);
static_assert(set_most_high >= most_waiting - set_block_bits);

std::uint64_t chunks_over(std::uint64_t sets) { return (sets + chunk_sets - 1) / chunk_sets; }

SetStepLaunch launch_of(const SetStep &step, std::uint64_t sets) {
    SetStepLaunch launch{};
    launch.sets = sets;
    launch.opened = step.opened << set_block_bits;
    launch.stays = step.stays;
    launch.low = step.low;
    launch.high_lines = static_cast<std::uint32_t>(step.high.size());
    for (std::size_t k = 0; k < step.high.size(); ++k) {
        launch.high[k] = step.high[k].factor;
        launch.high_bit[k] = step.high[k].bit << set_block_bits;
    }
    return launch;
}

class OnDevice final : public SetTables {
  public:
    OnDevice(std::int64_t doubles, DeviceQueue &queue)
        : queue_(queue), room_(queue), sums_(queue), most_(queue) {
        queue_.load(set_table_kernels());
        room_.reserve(at(doubles) * sizeof(double));
        most_.reserve(sizeof(double));
    }

    void put_empty_set(TablePlace table) override {
        constexpr double one = 1;
        queue_.copy_in(address(table), &one, sizeof one);
        clear_beyond(0, table);
    }
    double of_empty_set(TablePlace table) override {
        double number = 0;
        queue_.copy_out(&number, address(table), sizeof number);
        return number;
    }

    void meet(const SetStep &step, TablePlace before, TablePlace after, std::uint64_t sets_after,
              double work) override {
        SetStepLaunch launch = launch_of(step, sets_after);
        launch.from = address(before);
        launch.to = address(after);
        over_sets(set_entry::meet, sets_after, launch);
        queue_.wait();
        call().advance(work);
    }

    void go_back(const SetStep &step, TablePlace before, TablePlace slopes_after, TablePlace slopes,
                 std::uint64_t sets_before, std::vector<double> &sums, double work) override {
        SetStepLaunch launch = launch_of(step, sets_before);
        launch.from = address(slopes_after);
        launch.to = address(slopes);
        launch.before = address(before);
        over_sets(set_entry::back, sets_before, launch);
        sums.resize(chunks_over(sets_before) * sums_of(step));
        over_chunks(set_entry::products, launch, sums);
        call().advance(work);
    }

    void close(const SetLine &line) override { over_sets_of(set_entry::close, line); }
    void open(const SetLine &line) override { over_sets_of(set_entry::open, line); }

    void clear_beyond(std::int32_t lines, TablePlace table) override {
        const std::size_t sets = std::size_t{1} << lines;
        if (sets < set_block)
            queue_.copy_in(address(table) + sets * sizeof(double), no_numbers.data(),
                           (set_block - sets) * sizeof(double));
    }

    void sum_without(std::int32_t bit, std::uint64_t sets, TablePlace x, TablePlace y,
                     std::vector<double> &sums) override {
        sums.resize(chunks_over(sets));
        over_chunks(set_entry::without,
                    SetPairLaunch{address(x), address(y), 0, sets, std::uint64_t{1} << bit}, sums);
    }

    double most_of(TablePlace table, std::uint64_t sets) override {
        double most = 0;
        queue_.copy_in(most_.address(), &most, sizeof most);
        over_sets(set_entry::most, sets, SetWholeLaunch{address(table), most_.address(), sets, 1});
        queue_.copy_out(&most, most_.address(), sizeof most);
        return most;
    }

    void multiply(TablePlace table, std::uint64_t sets, double by) override {
        over_sets(set_entry::multiply, sets, SetWholeLaunch{address(table), 0, sets, by});
    }

  private:
    DeviceAddress address(TablePlace table) const { return room_.address() + at(table) * sizeof(double); }

    void over_sets_of(const char *entry, const SetLine &line) {
        const std::uint64_t sets = sets_of(line.lines);
        over_sets(entry, sets,
                  SetLineLaunch{address(line.from), address(line.to), sets, std::uint64_t{1} << line.lines,
                                std::uint64_t{1} << line.bit, line.unmatched});
    }
    template <class Launch> void over_sets(const char *entry, std::uint64_t sets, Launch launch) {
        const unsigned threads = queue_.block_threads(set_threads);
        const auto blocks = static_cast<unsigned>(
            std::min<std::uint64_t>((sets + threads - 1) / threads, queue_.blocks_at_once(entry, threads)));
        const std::array<void *, 1> arguments{&launch};
        queue_.launch(entry, blocks, threads, arguments);
    }
    // A block of threads for each sum.
    template <class Launch> void over_chunks(const char *entry, Launch launch, std::vector<double> &sums) {
        const std::size_t bytes = sums.size() * sizeof(double);
        sums_.reserve(bytes);
        launch.sums = sums_.address();
        const std::array<void *, 1> arguments{&launch};
        queue_.launch(entry, static_cast<unsigned>(sums.size()), queue_.block_threads(set_threads),
                      arguments);
        queue_.copy_out(sums.data(), sums_.address(), bytes);
    }

    DeviceQueue &queue_;
    DeviceArray room_, sums_, most_;
};

} // namespace

std::unique_ptr<SetTables> set_tables_on_device(std::int64_t doubles, DeviceQueue &queue) {
    return std::make_unique<OnDevice>(doubles, queue);
}

} // namespace libperm
