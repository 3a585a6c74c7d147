#include "lib/sets/set_tables.hpp"

#include "jit/kernel/matchings.hpp"
#include "lib/number/state_number.hpp"
#include "lib/sets/set_plan.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <array>
#include <cstddef>

namespace libperm {
namespace {

constexpr std::size_t in_line = 64 / sizeof(double); // of the cache

constexpr std::uint64_t chunks_of(std::uint64_t count, std::uint64_t each) {
    return (count + each - 1) / each;
}

// body(chunk, first, last) of pieces of 0 .. count - 1, chunks of so many each but the last, in parallel
// where they are several.
template <class Body> void in_chunks(std::uint64_t count, std::uint64_t each, const Body &body) {
    const std::uint64_t chunks = chunks_of(count, each);
    const auto one = [&](std::uint64_t k) { body(k, k * each, std::min(count, (k + 1) * each)); };
    if (chunks == 1)
        one(0);
    else
        parallel_for(chunks, one);
}

// What a step may read beside a table is no number of another.
void frame(double *table, std::uint64_t sets) {
    std::fill_n(table - set_margin, set_margin, 0.0);
    std::fill_n(table + sets, set_margin, 0.0);
}

// Those to fill up a block are 0.
void finish(double *table, std::int32_t lines) {
    if (lines < set_block_bits) std::fill(table + (std::size_t{1} << lines), table + set_block, 0.0);
    frame(table, sets_of(lines));
}

class OnCpu final : public SetTables {
  public:
    OnCpu(std::int64_t doubles) : room_(call().memory()) {
        room_.grow(at(doubles) + in_line);
        first_ = room_.data();
        while (reinterpret_cast<std::uintptr_t>(first_) % (in_line * sizeof(double)) != 0) ++first_;
    }

    void put_empty_set(TablePlace table) override {
        first_[table] = 1;
        finish(first_ + table, 0);
    }
    double of_empty_set(TablePlace table) override { return first_[table]; }

    void meet(const SetStep &step, TablePlace before, TablePlace after, std::uint64_t sets_after,
              double work) override {
        SetStep mine = step;
        mine.before = first_ + before;
        const std::uint64_t blocks = sets_after / set_block;
        in_chunks(blocks, set_chunk, [&](std::uint64_t, std::uint64_t first, std::uint64_t last) {
            step_forward(mine, first, last, first_ + after);
            call().advance(work * static_cast<double>(last - first) / static_cast<double>(blocks));
        });
        frame(first_ + after, sets_after);
    }

    void go_back(const SetStep &step, TablePlace before, TablePlace slopes_after, TablePlace slopes,
                 std::uint64_t sets_before, std::vector<double> &sums, double work) override {
        SetStep mine = step;
        mine.before = first_ + before;
        const std::uint64_t blocks = sets_before / set_block;
        const std::size_t each = sums_of(step);
        sums.resize(chunks_of(blocks, set_chunk) * each);
        in_chunks(blocks, set_chunk, [&](std::uint64_t chunk, std::uint64_t first, std::uint64_t last) {
            step_back(mine, first, last, first_ + slopes_after, first_ + slopes, sums.data() + chunk * each);
            call().advance(work * static_cast<double>(last - first) / static_cast<double>(blocks));
        });
        frame(first_ + slopes, sets_before);
    }

    void close(const SetLine &line) override {
        over_runs(line, [&](std::uint64_t s, std::uint64_t low, std::uint64_t run) {
            const double *const without = first_ + line.from + ((s & ~low) << 1 | (s & low)), *const with =
                                                                                                  without +
                                                                                                  low + 1;
            double *const out = first_ + line.to + s;
            for (std::uint64_t k = 0; k < run; ++k) out[k] = line.unmatched * without[k] + with[k];
        });
    }
    void open(const SetLine &line) override {
        over_runs(line, [&](std::uint64_t s, std::uint64_t low, std::uint64_t run) {
            const double factor = (s >> line.bit & 1) != 0 ? 1 : line.unmatched;
            const double *const in = first_ + line.from + ((s >> (line.bit + 1)) << line.bit | (s & low));
            double *const out = first_ + line.to + s;
            for (std::uint64_t k = 0; k < run; ++k) out[k] = factor * in[k];
        });
    }

    void clear_beyond(std::int32_t lines, TablePlace table) override {
        if (lines < set_block_bits) std::fill(first_ + table + (1 << lines), first_ + table + set_block, 0.0);
    }

    void sum_without(std::int32_t bit, std::uint64_t sets, TablePlace x, TablePlace y,
                     std::vector<double> &sums) override {
        sums.resize(chunks_of(sets, chunk_sets));
        double takes[set_block];
        for (std::size_t k = 0; k < set_block; ++k)
            takes[k] = bit < set_block_bits && (k >> bit & 1) != 0 ? 0 : 1;
        in_chunks(sets, chunk_sets, [&](std::uint64_t chunk, std::uint64_t first, std::uint64_t last) {
            double all[8] = {};
            for (std::uint64_t s = first; s < last; s += set_block) {
                if (bit >= set_block_bits && (s >> bit & 1) != 0) continue;
                const double *const of_x = first_ + x + s, *const of_y = first_ + y + s;
                double of_block[8] = {};
                for (std::size_t k = 0; k < set_block; k += 8)
                    for (std::size_t lane = 0; lane < 8; ++lane)
                        of_block[lane] += of_x[k + lane] * of_y[k + lane] * takes[k + lane];
                for (std::size_t lane = 0; lane < 8; ++lane) all[lane] += of_block[lane];
            }
            sums[chunk] = sum_by_halves(all, 8, 1);
        });
    }

    double most_of(TablePlace table, std::uint64_t sets) override {
        std::vector<double> most(chunks_of(sets, chunk_sets));
        in_chunks(sets, chunk_sets, [&](std::uint64_t chunk, std::uint64_t first, std::uint64_t last) {
            most[chunk] = range_of(first_ + table + first, last - first).most;
        });
        return *std::max_element(most.begin(), most.end());
    }

    void multiply(TablePlace table, std::uint64_t sets, double by) override {
        in_chunks(sets, chunk_sets, [&](std::uint64_t, std::uint64_t first, std::uint64_t last) {
            double *const of_sets = first_ + table;
            for (std::uint64_t s = first; s < last; ++s) of_sets[s] *= by;
        });
    }

  private:
    // of(s, low, run): from set s on `run` that follow each other, and are alike in the line's bit and above;
    // `low`: the bits below.
    template <class Of> void over_runs(const SetLine &line, const Of &of) {
        const std::uint64_t sets = std::uint64_t{1} << line.lines, low = (std::uint64_t{1} << line.bit) - 1;
        in_chunks(sets, chunk_sets, [&](std::uint64_t, std::uint64_t first, std::uint64_t last) {
            for (std::uint64_t s = first, run = 0; s < last; s += run)
                of(s, low, run = std::min(last - s, low + 1 - (s & low)));
        });
        finish(first_ + line.to, line.lines);
    }

    Buffer<double> room_;
    double *first_ = nullptr; // of the places, at the beginning of a cache line
};

} // namespace

std::unique_ptr<SetTables> set_tables_on_cpu(std::int64_t doubles) {
    return std::make_unique<OnCpu>(doubles);
}

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
