// The rows of the frontier on a GPU, one by one: how fast the dense form moves the states that must move, and
// how the sparse form's time follows the number of items (Dalton et al., Figure 9 for SpAdd).
//
//     perm_frontier_rows [--sparse] MATRIX ...
#include "bench/named_matrix.hpp"
#include "jit/kernel/frontier.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/frontier/dense_layout.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/gpu_device.hpp"
#include "preprocess/scaling.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

using namespace libperm;

namespace {

using Clock = std::chrono::steady_clock;

// Measures from a row's first launch to the wait for its last.
class TimedQueue final : public DeviceQueue {
  public:
    explicit TimedQueue(std::shared_ptr<const Gpu> gpu) : queue_(std::move(gpu), {}) {}

    using DeviceQueue::load;
    void load(std::span<const KernelRecipe> recipes) override { queue_.load(recipes); }
    DeviceAddress allocate(std::size_t bytes) override { return queue_.allocate(bytes); }
    void release(DeviceAddress address) noexcept override { queue_.release(address); }
    std::int64_t free_bytes() override { return queue_.free_bytes(); }
    void copy_in(DeviceAddress to, const void *from, std::size_t bytes) override {
        queue_.copy_in(to, from, bytes);
    }
    void copy_out(void *to, DeviceAddress from, std::size_t bytes) override {
        queue_.copy_out(to, from, bytes);
        SparseReport report{};
        if (bytes == sizeof report) std::memcpy(&report, to, sizeof report);
        end_row(report);
    }
    void *allocate_host(std::size_t bytes) override { return queue_.allocate_host(bytes); }
    void release_host(void *memory) noexcept override { queue_.release_host(memory); }
    void send(DeviceAddress to, const void *from, std::size_t bytes) override {
        queue_.send(to, from, bytes);
    }
    void fetch(void *to, DeviceAddress from, std::size_t bytes) override { queue_.fetch(to, from, bytes); }
    void use_stream(std::size_t k) override {
        queue_.use_stream(k);
        stream_ = k;
    }
    void wait() override {
        queue_.wait();
        if (stream_ == 0) end_row({});
    }
    DeviceLimits limits() const override { return queue_.limits(); }
    void allow_shared(const char *entry, std::size_t bytes) override { queue_.allow_shared(entry, bytes); }
    unsigned blocks_at_once(const char *entry, unsigned threads, std::size_t shared) override {
        return queue_.blocks_at_once(entry, threads, shared);
    }
    void launch(const char *entry, unsigned blocks, unsigned threads, std::span<void *const> arguments,
                std::size_t shared) override {
        if (!running_) begun_ = Clock::now();
        running_ = true;
        queue_.launch(entry, blocks, threads, arguments, shared);
    }

    struct Row {
        double seconds, candidates, states;
    };
    std::vector<Row> rows;

  private:
    void end_row(const SparseReport &report) {
        if (!running_) return;
        running_ = false;
        const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
        rows.push_back({seconds, static_cast<double>(report.candidates), static_cast<double>(report.states)});
    }

    GpuQueue queue_;
    std::size_t stream_ = 0;
    bool running_ = false;
    Clock::time_point begun_;
};

struct Prepared {
    Block block;
    FrontierProgram program;
};

Prepared prepare(const perm::Csr &matrix, const GpuProperties &gpu) {
    const perm_csr view = matrix.view();
    const InputPattern input = read_pattern(&view);
    Prepared p{{input.pattern, {}}, {}};
    for (const double x : read_values(input, view.values).real) p.block.values.push_back(tracked(x));
    (void)scale(p.block);
    const auto sides = frontier_sides(input.pattern, {});
    FrontierOrderOptions options;
    options.sparse = sparse_price();
    options.dense = dense_price(false, gpu);
    const FrontierOrder order = find_frontier_order(sides, options);
    p.program = build_frontier_program(sides[order.transposed ? 1 : 0], order);
    return p;
}

// The third of three runs: the first compiles, the second touches the memory.
std::vector<TimedQueue::Row> timed_rows(const Prepared &p, bool sparse,
                                        const std::shared_ptr<const Gpu> &gpu) {
    std::vector<TimedQueue::Row> rows;
    for (int run = 0; run < 3; ++run) {
        MemoryBudget memory(0);
        TimedQueue queue(gpu);
        const FrontierRun frontier{p.block, p.program, memory, 1};
        if (sparse)
            (void)run_sparse_frontier_on(queue, frontier, 0x1p34);
        else
            (void)run_dense_slice_on(queue, frontier, p.program);
        rows = queue.rows;
    }
    return rows;
}

void print_dense(const std::string &name, const Prepared &p, const std::vector<TimedQueue::Row> &rows,
                 const GpuProperties &gpu) {
    constexpr double large = 1e7; // states: below, launches count
    const auto number = static_cast<double>(number_bytes(is_nonnegative(p.block)));
    double all = 0, seconds = 0, bytes = 0, before = 1;
    for (std::size_t t = 0; t < rows.size(); ++t) {
        const FrontierStep &step = p.program.steps[t];
        const double after = dense_states(step);
        all += rows[t].seconds;
        if (after >= large) {
            seconds += rows[t].seconds;
            bytes += number * (before + after);
        }
        before = after;
    }
    fmt::print("| {} | {} | {:.4g} | {:.2f} | {:.4g} | {:.0f} | {:.0f} % |\n", name, p.program.slots,
               1e3 * all, bytes * 1e-9, 1e3 * seconds, bytes / seconds * 1e-9,
               100 * bytes / seconds / gpu.memory_bandwidth);
}

struct Point {
    double items, seconds;
};

double correlation(const std::vector<Point> &points) {
    const auto n = static_cast<double>(points.size());
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (const Point &p : points) {
        x += p.items, y += p.seconds;
        xx += p.items * p.items, yy += p.seconds * p.seconds, xy += p.items * p.seconds;
    }
    return (n * xy - x * y) / std::sqrt((n * xx - x * x) * (n * yy - y * y));
}

// What a row's steps take: the candidates that expanding makes, then what each level of unions is given. What
// the levels leave of the candidates is not known but at the end; in between, by equal factors.
double items_of(double candidates, double states, std::size_t terms) {
    const double levels = std::max(1.0, std::ceil(std::log2(static_cast<double>(terms))));
    double items = candidates;
    for (double level = 0; level < levels && candidates > 0; ++level)
        items += candidates * std::pow(states / candidates, level / levels);
    return items;
}

std::vector<Point> print_sparse(const std::string &name, const Prepared &p,
                                const std::vector<TimedQueue::Row> &rows) {
    std::vector<Point> points;
    double items = 0, seconds = 0, most = 0;
    for (std::size_t t = 0; t < rows.size(); ++t) {
        const TimedQueue::Row &row = rows[t];
        points.push_back(
            {items_of(row.candidates, row.states, p.program.steps[t].terms.size()), row.seconds});
        items += points.back().items;
        seconds += row.seconds;
        most = std::max(most, points.back().items);
    }
    fmt::print("| {} | {} | {} | {:.3g} | {:.3g} | {:.4g} | {:.2f} |\n", name, p.program.steps.size(),
               sparse_key_words(p.program), most, items, 1e3 * seconds, items / seconds * 1e-9);
    return points;
}

} // namespace

int main(int argc, char **argv) {
    CLI::App app{"the rows of the frontier on a GPU, one by one"};
    bool sparse = false, print_points = false;
    std::vector<std::string> names;
    app.add_flag("--sparse", sparse, "the sparse form: time against items");
    app.add_flag("--points", print_points, "with --sparse: the rows' items and seconds, too");
    app.add_option("matrices", names, "files, or members of families as of perm_bench")->required();
    CLI11_PARSE(app, argc, argv);

    const GpuChoice choice = first_gpu();
    if (!choice.gpu) {
        fmt::print(stderr, "perm_frontier_rows: {}\n", choice.why_not);
        return 3;
    }
    const GpuProperties &gpu = choice.gpu->properties();
    fmt::print("{}, {:.0f} GB/s\n\n", gpu.name, gpu.memory_bandwidth * 1e-9);
    fmt::print(
        "{}",
        sparse ? "| matrix | rows | words of a key | items of a row | of all | ms | items/ns |\n"
                 "|---|---|---|---|---|---|---|\n"
               : "| matrix | slots | ms | GB that must move | ms of large rows | GB/s | of the memory's |\n"
                 "|---|---|---|---|---|---|---|\n");
    std::vector<Point> points;
    for (const std::string &name : names) {
        const auto matrix = find_matrix(name);
        if (!matrix) {
            fmt::print(stderr,
                       "perm_frontier_rows: '{}' is no file, not in PERM_MATRIX_DIR, and of no family\n",
                       name);
            return 2;
        }
        const Prepared p = prepare(matrix->load(), gpu);
        const std::vector<TimedQueue::Row> rows = timed_rows(p, sparse, choice.gpu);
        if (!sparse) {
            print_dense(matrix->name, p, rows, gpu);
            continue;
        }
        const std::vector<Point> more = print_sparse(matrix->name, p, rows);
        points.insert(points.end(), more.begin(), more.end());
    }
    if (sparse) {
        fmt::print("\ntime against items, all {} rows: correlation {:.4f}\n", points.size(),
                   correlation(points));
        std::erase_if(points, [](const Point &p) { return p.items < 1e5; });
        fmt::print("rows of more than 1e5 items, {}: {:.4f}\n", points.size(), correlation(points));
    }
    if (print_points)
        for (const Point &p : points) fmt::print("{:.6g} {:.6g}\n", p.items, p.seconds);
    return EXIT_SUCCESS;
}
