// A sparse matrix times a vector on a GPU, by merge path and by cuSPARSE: synthetic matrices of the kinds of
// Dalton et al., Table II, and operators of strips, rings and bars.
//
//     perm_sparse_products [--runs N] [--only TEXT]
#include "bench/cusparse.hpp"
#include "bench/families.hpp"
#include "capi/command/lattice.hpp"
#include "jit/kernel/diagonal_product.hpp"
#include "jit/kernel/merge_product.hpp"
#include "jit/kernel/merge_sum.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/periodic/periodic_plan.hpp"
#include "lib/run/gpu_device.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

using namespace libperm;
using perm::families::Random;

namespace {

struct Csr {
    std::string name;
    bool is_operator = false;
    std::uint32_t columns = 0;
    std::vector<std::uint32_t> first{0}, column;
    std::vector<double> value;

    std::uint32_t rows() const { return static_cast<std::uint32_t>(first.size()) - 1; }
    void end_row() { first.push_back(static_cast<std::uint32_t>(column.size())); }
    void add(std::uint64_t j, double x) {
        column.push_back(static_cast<std::uint32_t>(j));
        value.push_back(x);
    }
};

std::uint64_t below(Random &random, std::uint64_t n) {
    return static_cast<std::uint64_t>(random.integer(0, static_cast<std::int64_t>(n) - 1));
}

// `length(i)` entries in row i, at random within `reach` of the diagonal; 0: anywhere.
template <class Length>
Csr random_rows(const std::string &name, std::uint32_t rows, std::uint32_t columns, std::uint64_t reach,
                Random &random, const Length &length) {
    Csr a{name, false, columns, {0}, {}, {}};
    std::vector<std::uint64_t> places;
    for (std::uint32_t i = 0; i < rows; ++i) {
        const std::uint64_t size = std::min<std::uint64_t>(length(i), columns);
        const std::uint64_t middle = std::uint64_t{i} * columns / rows,
                            low = reach == 0 || middle < reach ? 0 : middle - reach,
                            high =
                                reach == 0 ? columns : std::min<std::uint64_t>(columns, middle + reach + 1);
        places.clear();
        for (std::uint64_t k = 0; k < size; ++k) places.push_back(low + below(random, high - low));
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        for (const std::uint64_t j : places) a.add(j, static_cast<double>(random.integer(1, 9)));
        a.end_row();
    }
    return a;
}

std::vector<Csr> synthetic(Random &random) {
    std::vector<Csr> all;
    Csr dense{"dense 2000 x 2000", false, 2000, {0}, {}, {}};
    for (std::uint32_t i = 0; i < 2000; ++i) {
        for (std::uint32_t j = 0; j < 2000; ++j) dense.add(j, 1);
        dense.end_row();
    }
    all.push_back(std::move(dense));
    const auto constant = [](std::uint64_t n) { return [n](std::uint32_t) { return n; }; };
    all.push_back(random_rows("banded, 120 a row", 36000, 36000, 300, random, constant(120)));
    all.push_back(random_rows("banded, 55 a row", 217000, 217000, 600, random, constant(55)));
    all.push_back(random_rows("banded, 5 a row", 1000000, 1000000, 8, random, constant(5)));
    all.push_back(random_rows("random, 6 a row", 207000, 207000, 0, random, constant(6)));
    all.push_back(random_rows("random, 22 a row", 121000, 121000, 0, random, constant(22)));
    all.push_back(random_rows("circuit, a few dense rows", 171000, 171000, 0, random, [&](std::uint32_t i) {
        return i % 17100 == 7 ? std::uint64_t{40000} : std::uint64_t{5};
    }));
    // Of row lengths k as k^-2.1: a web's links.
    all.push_back(random_rows("power law", 1000000, 1000000, 0, random, [&](std::uint32_t) {
        const double u = std::max(random.uniform(), 1e-6);
        return static_cast<std::uint64_t>(std::pow(u, -1 / 1.1));
    }));
    all.push_back(random_rows("LP, 4284 x 1.1e6", 4284, 1092610, 0, random, [&](std::uint32_t i) {
        return i % 7 == 0 ? std::uint64_t{15000} : std::uint64_t{600};
    }));
    all.push_back(random_rows("rows of 0 or 400", 400000, 400000, 0, random, [&](std::uint32_t i) {
        return i % 64 == 0 ? std::uint64_t{400} : std::uint64_t{0};
    }));
    return all;
}

// One cell's operator, multiplied out.
Csr operator_of(const std::string &lattice) {
    const perm::Csr cell = perm::lattice_cell(lattice);
    const perm_csr view = cell.view();
    perm_periodic a = PERM_PERIODIC_INIT;
    a.cell = &view;
    const Options options = read_options(nullptr);
    RunControl control(options);
    const PeriodicPlan plan = make_periodic_plan(read_periodic(
                                                     &a, [] {}, nullptr),
                                                 options, control);
    const PeriodBlock &block = plan.open.period;
    Csr out{"T of " + lattice, true, static_cast<std::uint32_t>(block.states), {0}, {}, {}};
    using Row = std::vector<std::pair<std::uint32_t, double>>;
    std::vector<Row> rows(block.states);
    for (std::uint32_t s = 0; s < block.states; ++s) rows[s] = {{s, 1}};
    for (const PeriodLevel &level : block.levels) {
        std::vector<Row> next(level.states());
        for (std::size_t t = 0; t < next.size(); ++t) {
            Row sum;
            for (std::uint32_t m = level.first[t]; m < level.first[t + 1]; ++m)
                sum.insert(sum.end(), rows[level.moves[m].source].begin(), rows[level.moves[m].source].end());
            std::sort(sum.begin(), sum.end());
            for (const auto &[j, x] : sum)
                if (!next[t].empty() && next[t].back().first == j)
                    next[t].back().second += x;
                else
                    next[t].push_back({j, x});
        }
        rows = std::move(next);
    }
    for (const Row &row : rows) {
        for (const auto &[j, x] : row) out.add(j, x);
        out.end_row();
    }
    return out;
}

template <class T> DeviceArray uploaded(DeviceQueue &queue, const std::vector<T> &list) {
    DeviceArray array(queue);
    array.reserve(std::max<std::size_t>(list.size(), 1) * sizeof(T));
    queue.copy_in(array.address(), list.data(), list.size() * sizeof(T));
    return array;
}

// Seconds of one of many, the best of three rows of them.
template <class Work, class Wait> double seconds_each(int runs, const Work &work, const Wait &wait) {
    using Clock = std::chrono::steady_clock;
    double best = 1e9;
    for (int k = 0; k < 4; ++k) { // the first warms up
        wait();
        const Clock::time_point begun = Clock::now();
        for (int r = 0; r < runs; ++r) work();
        wait();
        const double each = std::chrono::duration<double>(Clock::now() - begun).count() / runs;
        if (k > 0) best = std::min(best, each);
    }
    return best;
}

struct Measured {
    double merge = 0, cut = 0;
    std::optional<double> usual, balanced; // cuSPARSE's
};

Measured measure(DeviceQueue &queue, bench::CuSparse *cusparse, const Csr &a, int runs) {
    const std::uint32_t threads = merge_threads, rows = a.rows(), entries = a.first.back(),
                        tile = threads * merge_items, tiles = (rows + entries + tile - 1) / tile;
    std::vector<double> x(a.columns);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = static_cast<double>(j % 7 + 1);
    const DeviceArray first = uploaded(queue, a.first), column = uploaded(queue, a.column),
                      value = uploaded(queue, a.value), from = uploaded(queue, x),
                      to = uploaded(queue, std::vector<double>(rows)),
                      cuts = uploaded(queue, std::vector<std::uint32_t>(tiles + 1)),
                      carries = uploaded(queue, std::vector<MergeCarry>(tiles, {0, 0})),
                      words = uploaded(queue, std::vector<std::uint64_t>(2, 0));
    MergeMatrix matrix{rows,           entries, first.address(), column.address(), value.address(),
                       cuts.address(), tile};
    DeviceAddress x_at = from.address(), y_at = to.address(), carries_at = carries.address();
    const auto wait = [&] { queue.wait(); };
    Measured out;
    out.cut = seconds_each(
        runs,
        [&] {
            const std::array<void *, 1> arguments{&matrix};
            queue.launch(merge_cut_entry, tiles / threads + 1, threads, arguments, 0);
        },
        wait);
    MergeChain chain{0, words.address(), words.address() + 8, 0};
    out.merge = seconds_each(
        runs,
        [&] {
            ++chain.launch;
            const std::array<void *, 5> arguments{&matrix, &x_at, &y_at, &carries_at, &chain};
            queue.launch(merge_product_entry, tiles, threads, arguments, 0);
        },
        wait);
    std::vector<double> y(rows);
    queue.copy_out(y.data(), y_at, 8 * y.size());
    for (std::uint32_t i = 0; i < rows; ++i) { // whole numbers
        double sum = 0;
        for (std::uint32_t k = a.first[i]; k < a.first[i + 1]; ++k) sum += a.value[k] * x[a.column[k]];
        if (sum != y[i]) throw std::runtime_error(fmt::format("{}: row {} is wrong", a.name, i));
    }
    if (!cusparse) return out;
    const bench::DeviceCsr there{rows,           a.columns, entries, first.address(), column.address(),
                                 value.address()};
    const auto timed = [&](bench::CuSparse::Algorithm algorithm) {
        cusparse->prepare(there, x_at, y_at, algorithm);
        return seconds_each(
            runs, [&] { cusparse->multiply(); }, [&] { cusparse->synchronize(); });
    };
    out.usual = timed(bench::CuSparse::Algorithm::usual);
    out.balanced = timed(bench::CuSparse::Algorithm::balanced);
    cusparse->forget();
    return out;
}

// A and the same with its columns moved on by one, added up.
struct MeasuredSum {
    double ours = 0;
    std::optional<double> theirs;
};

Csr moved(const Csr &a) {
    Csr b{a.name, a.is_operator, a.columns, a.first, a.column, a.value};
    for (std::uint32_t i = 0; i < a.rows(); ++i) {
        const auto begin = b.column.begin() + a.first[i], end = b.column.begin() + a.first[i + 1];
        for (auto j = begin; j != end; ++j) *j = (*j + 1) % a.columns;
        if (begin != end && *(end - 1) == 0) std::rotate(begin, end - 1, end);
    }
    return b;
}

MeasuredSum measure_sum(DeviceQueue &queue, bench::CuSparse *cusparse, const Csr &a, int runs) {
    const Csr b = moved(a);
    const std::uint32_t rows = a.rows(), entries = a.first.back(), all = 2 * entries,
                        tile = sum_threads * sum_items, tiles = (all + tile - 1) / tile;
    const DeviceArray a_first = uploaded(queue, a.first), a_column = uploaded(queue, a.column),
                      a_value = uploaded(queue, a.value), b_first = uploaded(queue, b.first),
                      b_column = uploaded(queue, b.column), b_value = uploaded(queue, b.value),
                      a_key = uploaded(queue, std::vector<std::uint64_t>(entries)),
                      b_key = uploaded(queue, std::vector<std::uint64_t>(entries)),
                      c_first = uploaded(queue, std::vector<std::uint32_t>(rows + 1)),
                      c_column = uploaded(queue, std::vector<std::uint32_t>(all)),
                      c_value = uploaded(queue, std::vector<double>(all)),
                      words = uploaded(queue, std::vector<std::uint64_t>(2, 0)),
                      sums = uploaded(queue, std::vector<std::uint64_t>(tiles, 0));
    SumPairs left{entries, a_key.address(), a_value.address()},
        right{entries, b_key.address(), b_value.address()};
    SparseSum c{rows, c_first.address(), c_column.address(), c_value.address()};
    SumChain chain{0, words.address(), words.address() + 8, sums.address()};
    const auto pairs = [&](SumRows lines, DeviceAddress key) {
        const std::array<void *, 2> arguments{&lines, &key};
        queue.launch(merge_pairs_entry, (entries + tile - 1) / tile, sum_threads, arguments, 0);
    };
    MeasuredSum out;
    out.ours = seconds_each(
        runs,
        [&] {
            pairs({rows, entries, a_first.address(), a_column.address()}, a_key.address());
            pairs({rows, entries, b_first.address(), b_column.address()}, b_key.address());
            ++chain.launch;
            const std::array<void *, 4> arguments{&left, &right, &c, &chain};
            queue.launch(merge_sum_entry, tiles, sum_threads, arguments, 0);
        },
        [&] { queue.wait(); });
    std::vector<std::uint32_t> first(rows + 1);
    queue.copy_out(first.data(), c.first, 4 * first.size());
    std::vector<double> value(first.back());
    queue.copy_out(value.data(), c.value, 8 * value.size());
    double sum = 0, truth = 0;
    for (const double x : value) sum += x;
    for (const double x : a.value) truth += 2 * x;
    if (sum != truth) throw std::runtime_error(a.name + ": the sum is wrong");
    if (!cusparse) return out;
    const bench::DeviceCsr x{
        rows, a.columns, entries, a_first.address(), a_column.address(), a_value.address()},
        y{rows, a.columns, entries, b_first.address(), b_column.address(), b_value.address()};
    out.theirs = seconds_each(
        runs,
        [&] {
            cusparse->add(x, y, {c.first, c.column, c.value});
        },
        [&] { cusparse->synchronize(); });
    cusparse->forget();
    return out;
}

// All diagonals within `half` of the main one, or so many at random.
std::vector<std::uint32_t> band(std::uint32_t n, std::uint32_t half) {
    std::vector<std::uint32_t> diagonals;
    for (std::uint32_t c = 0; c < n; ++c)
        if (c <= half || c + half >= n) diagonals.push_back(c);
    return diagonals;
}
std::vector<std::uint32_t> some(std::uint32_t n, std::uint32_t count, Random &random) {
    std::vector<std::uint32_t> diagonals;
    while (diagonals.size() < count) {
        diagonals.push_back(static_cast<std::uint32_t>(below(random, n)));
        std::sort(diagonals.begin(), diagonals.end());
        diagonals.erase(std::unique(diagonals.begin(), diagonals.end()), diagonals.end());
    }
    return diagonals;
}

// Its square, stored by diagonals and in rows. A band's diagonals do not go round: what would is 0, and in
// rows not stored.
void measure_diagonals(DeviceQueue &queue, bench::CuSparse *cusparse, const std::string &name,
                       std::uint32_t n, const std::vector<std::uint32_t> &diagonals, bool goes_round,
                       int runs) {
    const DiagonalPairs pairs = diagonal_pairs(n, diagonals, diagonals);
    std::vector<double> stored;
    Csr rows{name, false, n, {0}, {}, {}};
    const auto is_there = [&](std::uint32_t i, std::uint32_t c) {
        return goes_round || (c <= n / 2 ? i + c < n : i + c >= n);
    };
    for (const std::uint32_t c : diagonals)
        for (std::uint32_t i = 0; i < n; ++i) stored.push_back(is_there(i, c) ? 1 + (i + c) % 5 : 0);
    std::vector<std::uint32_t> columns;
    for (std::uint32_t i = 0; i < n; ++i) {
        columns.clear();
        for (const std::uint32_t c : diagonals)
            if (is_there(i, c)) columns.push_back((i + c) % n);
        std::sort(columns.begin(), columns.end());
        for (const std::uint32_t j : columns) rows.add(j, 1 + (j >= i ? j : j + n) % 5);
        rows.end_row();
    }
    const DeviceArray a = uploaded(queue, stored), first = uploaded(queue, pairs.first),
                      list = uploaded(queue, pairs.pairs);
    DeviceArray c(queue);
    c.reserve(8 * pairs.diagonals.size() * n);
    DiagonalProduct product{n,
                            static_cast<std::uint32_t>(pairs.diagonals.size()),
                            a.address(),
                            a.address(),
                            c.address(),
                            first.address(),
                            list.address()};
    const std::array<void *, 1> arguments{&product};
    const unsigned blocks = (n + diagonal_threads - 1) / diagonal_threads * product.diagonals;
    const double ours = seconds_each(
        runs, [&] { queue.launch(diagonal_product_entry, blocks, diagonal_threads, arguments, 0); },
        [&] { queue.wait(); });
    std::optional<double> theirs;
    if (cusparse) {
        const DeviceArray r_first = uploaded(queue, rows.first), r_column = uploaded(queue, rows.column),
                          r_value = uploaded(queue, rows.value);
        const bench::DeviceCsr x{
            n, n, rows.first.back(), r_first.address(), r_column.address(), r_value.address()};
        theirs = seconds_each(
            std::max(1, runs / 10), [&] { cusparse->multiply(x, x); }, [&] { cusparse->synchronize(); });
        cusparse->forget();
    }
    fmt::print("{:<28}{:>9}{:>10}{:>12.1f}{:>12.1f}{:>8.1f}\n", name, n, diagonals.size(), 1e6 * ours,
               1e6 * theirs.value_or(0), theirs.value_or(0) / ours);
    std::fflush(stdout);
}

// Pearson's, of work and time.
double correlation(const std::vector<double> &x, const std::vector<double> &y) {
    double mx = 0, my = 0, xy = 0, xx = 0, yy = 0;
    for (std::size_t k = 0; k < x.size(); ++k) mx += x[k], my += y[k];
    mx /= static_cast<double>(x.size());
    my /= static_cast<double>(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
        xy += (x[k] - mx) * (y[k] - my);
        xx += (x[k] - mx) * (x[k] - mx);
        yy += (y[k] - my) * (y[k] - my);
    }
    return xy / std::sqrt(xx * yy);
}

struct Summary {
    std::vector<double> work, seconds;
    double log_times = 0;
    int count = 0;

    void take(double of_work, double ours, std::optional<double> theirs) {
        work.push_back(of_work);
        seconds.push_back(ours);
        if (!theirs) return;
        ++count;
        log_times += std::log(*theirs / ours);
    }
    void print(const char *name) const {
        fmt::print(
            "{}: {:.2f} times as fast as cuSPARSE in the geometric mean of {}; time follows the work with "
            "correlation {:.4f}\n",
            name, count > 0 ? std::exp(log_times / count) : 0, count, correlation(work, seconds));
    }
};

} // namespace

int main(int argc, char **argv) try {
    CLI::App app("Sparse matrices on a GPU: times a vector, their sums and products, beside cuSPARSE.");
    int runs = 100;
    app.add_option("--runs", runs, "products that are timed together");
    std::string only;
    app.add_option("--only", only, "the matrices whose names have this in them");
    CLI11_PARSE(app, argc, argv);
    Random random(1);
    std::vector<Csr> all = synthetic(random);
    for (const char *lattice : {"grid:12", "grid:14", "grid:16", "ring:12", "ring:14", "grid:2x5", "grid:2x6",
                                "grid:2x7", "grid:3x4", "ring:2x6", "ring:4x3", "grid:4x4"})
        all.push_back(operator_of(lattice));
    std::erase_if(all, [&](const Csr &a) { return a.name.find(only) == std::string::npos; });
    const GpuChoice choice = first_gpu();
    if (!choice.gpu) throw std::runtime_error(choice.why_not);
    const Gpu::Current current(*choice.gpu);
    GpuQueue queue(choice.gpu, {});
    const std::array<KernelRecipe, 3> kernels{merge_product_kernels(), merge_sum_kernels(),
                                              diagonal_product_kernel()};
    queue.load(kernels);
    std::optional<bench::CuSparse> cusparse;
    try {
        cusparse.emplace();
        fmt::print("cuSPARSE {}\n", cusparse->version());
    } catch (const std::exception &error) {
        fmt::print("without cuSPARSE: {}\n", error.what());
    }
    bench::CuSparse *const beside = cusparse ? &*cusparse : nullptr;
    fmt::print("microseconds: y = A x; cuSPARSE's default and CSR_ALG2; C = A + A moved by a column, and "
               "cuSPARSE's\n");
    fmt::print("{:<28}{:>9}{:>10}{:>8}{:>9}{:>9}{:>9}{:>7}{:>7}{:>10}{:>10}{:>7}\n", "", "rows", "entries",
               "cut", "A x", "default", "ALG2", "GB/s", "times", "A + A'", "theirs", "times");
    Summary products, operators, sums, sums_of_operators;
    for (const Csr &a : all) {
        const Measured m = measure(queue, beside, a, runs);
        const MeasuredSum s = measure_sum(queue, beside, a, std::max(1, runs / 5));
        const double entries = a.first.back(), bytes = 12 * entries + 12.0 * a.rows() + 8.0 * a.columns;
        fmt::print(
            "{:<28}{:>9}{:>10}{:>8.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>7.0f}{:>7.2f}{:>10.1f}{:>10.1f}{:>7.2f}\n",
            a.name, a.rows(), a.first.back(), 1e6 * m.cut, 1e6 * m.merge, 1e6 * m.usual.value_or(0),
            1e6 * m.balanced.value_or(0), bytes / m.merge / 1e9, m.usual.value_or(0) / m.merge, 1e6 * s.ours,
            1e6 * s.theirs.value_or(0), s.theirs.value_or(0) / s.ours);
        std::fflush(stdout);
        (a.is_operator ? operators : products).take(entries + a.rows(), m.merge, m.usual);
        (a.is_operator ? sums_of_operators : sums).take(2 * entries, s.ours, s.theirs);
    }
    if (!only.empty()) return 0;
    products.print("A x, synthetic");
    operators.print("A x, operators");
    sums.print("A + A', synthetic");
    sums_of_operators.print("A + A', operators");

    fmt::print(
        "\nmicroseconds: A A by diagonals, and cuSPARSE's SpGEMM\n{:<28}{:>9}{:>10}{:>12}{:>12}{:>8}\n", "",
        "n", "diagonals", "ours", "theirs", "times");
    for (const std::uint32_t n : {1024U, 4096U, 9216U})
        for (const std::uint32_t half : {5U, 10U, 20U})
            measure_diagonals(queue, beside, fmt::format("band, {} to either side", half), n, band(n, half),
                              false, runs);
    for (const std::uint32_t count : {50U, 100U, 200U})
        measure_diagonals(queue, beside, "diagonals at random", 10000, some(10000, count, random), true, 10);
    measure_diagonals(queue, nullptr, "diagonals at random", 10000, some(10000, 600, random), true, 5);
    return 0;
} catch (const std::exception &error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
