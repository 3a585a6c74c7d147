#include "lib/sets/set_tables_on_device.hpp"

#include "jit/kernel/set_tables.hpp"
#include "lib/sets/set_order.hpp"
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

} // namespace

SetTablesOnDevice::SetTablesOnDevice(DeviceQueue &queue, std::int64_t doubles, RunControl &control)
    : queue_(queue), control_(control), room_(queue), sums_(queue), most_(queue) {
    queue_.load(set_table_kernels());
    room_.reserve(at(doubles) * sizeof(double));
    most_.reserve(sizeof(double));
}

DeviceAddress SetTablesOnDevice::address(TablePlace table) const {
    return room_.address() + at(table) * sizeof(double);
}

template <class Launch>
void SetTablesOnDevice::over_sets(const char *entry, std::uint64_t sets, Launch launch) {
    const unsigned threads = queue_.block_threads(set_threads);
    const auto blocks = static_cast<unsigned>(
        std::min<std::uint64_t>((sets + threads - 1) / threads, queue_.blocks_at_once(entry, threads)));
    const std::array<void *, 1> arguments{&launch};
    queue_.launch(entry, blocks, threads, arguments);
}

// A block of threads for each sum.
template <class Launch>
void SetTablesOnDevice::over_chunks(const char *entry, Launch launch, std::vector<double> &sums) {
    const std::size_t bytes = sums.size() * sizeof(double);
    sums_.reserve(bytes);
    launch.sums = sums_.address();
    const std::array<void *, 1> arguments{&launch};
    queue_.launch(entry, static_cast<unsigned>(sums.size()), queue_.block_threads(set_threads), arguments);
    queue_.copy_out(sums.data(), sums_.address(), bytes);
}

void SetTablesOnDevice::put_empty_set(TablePlace table) {
    constexpr double one = 1;
    queue_.copy_in(address(table), &one, sizeof one);
    clear_beyond(0, table);
}

double SetTablesOnDevice::of_empty_set(TablePlace table) {
    double number = 0;
    queue_.copy_out(&number, address(table), sizeof number);
    return number;
}

void SetTablesOnDevice::meet(const SetStep &step, TablePlace before, TablePlace after,
                             std::uint64_t sets_after, double work) {
    SetStepLaunch launch = launch_of(step, sets_after);
    launch.from = address(before);
    launch.to = address(after);
    over_sets(set_entry::meet, sets_after, launch);
    queue_.wait();
    control_.advance(work);
}

void SetTablesOnDevice::go_back(const SetStep &step, TablePlace before, TablePlace slopes_after,
                                TablePlace slopes, std::uint64_t sets_before, std::vector<double> &sums,
                                double work) {
    SetStepLaunch launch = launch_of(step, sets_before);
    launch.from = address(slopes_after);
    launch.to = address(slopes);
    launch.before = address(before);
    over_sets(set_entry::back, sets_before, launch);
    sums.resize(chunks_over(sets_before) * sums_of(step));
    over_chunks(set_entry::products, launch, sums);
    control_.advance(work);
}

void SetTablesOnDevice::close_line(std::int32_t bit, std::int32_t lines, double unmatched, TablePlace from,
                                   TablePlace to) {
    over_sets(set_entry::close, sets_of(lines),
              SetLineLaunch{address(from), address(to), sets_of(lines), std::uint64_t{1} << lines,
                            std::uint64_t{1} << bit, unmatched});
}

void SetTablesOnDevice::open_line(std::int32_t bit, std::int32_t lines, double unmatched, TablePlace from,
                                  TablePlace to) {
    over_sets(set_entry::open, sets_of(lines),
              SetLineLaunch{address(from), address(to), sets_of(lines), std::uint64_t{1} << lines,
                            std::uint64_t{1} << bit, unmatched});
}

void SetTablesOnDevice::clear_beyond(std::int32_t lines, TablePlace table) {
    const std::size_t sets = std::size_t{1} << lines;
    if (sets < set_block)
        queue_.copy_in(address(table) + sets * sizeof(double), no_numbers.data(),
                       (set_block - sets) * sizeof(double));
}

void SetTablesOnDevice::sum_without(std::int32_t bit, std::uint64_t sets, TablePlace x, TablePlace y,
                                    std::vector<double> &sums) {
    sums.resize(chunks_over(sets));
    over_chunks(set_entry::without, SetPairLaunch{address(x), address(y), 0, sets, std::uint64_t{1} << bit},
                sums);
}

double SetTablesOnDevice::most_of(TablePlace table, std::uint64_t sets) {
    double most = 0;
    queue_.copy_in(most_.address(), &most, sizeof most);
    over_sets(set_entry::most, sets, SetWholeLaunch{address(table), most_.address(), sets, 1});
    queue_.copy_out(&most, most_.address(), sizeof most);
    return most;
}

void SetTablesOnDevice::multiply(TablePlace table, std::uint64_t sets, double by) {
    over_sets(set_entry::multiply, sets, SetWholeLaunch{address(table), 0, sets, by});
}

} // namespace libperm
