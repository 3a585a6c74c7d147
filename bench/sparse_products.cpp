// Sparse matrices on a GPU, times a vector, their sums and products, by merge path and by diagonals, beside
// cuSPARSE: synthetic matrices of the kinds of Dalton et al., Table II, operators of strips, rings and bars,
// and the matrices of diagonals of Haque, Parvez and Hossain, Figure 6 and Tables 1 and 2.
//
//     perm_sparse_products [--runs N] [--only TEXT] [--small]
#include "bench/device.hpp"
#include "bench/kernels/merge_product.hpp"
#include "bench/kernels/merge_sum.hpp"
#include "bench/sparse/diagonals.hpp"
#include "bench/sparse/products.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace libperm;
using namespace bench;
using perm::families::Random;

namespace {

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

// What the tiles of a product with a vector ask of the L2 cache: entries, rows, and each 32 bytes of x once.
double bytes_of_tiles(const Csr &a) {
    constexpr std::size_t tile = merge_threads * merge_items;
    double bytes = 12.0 * static_cast<double>(a.column.size()) + 12.0 * a.rows();
    std::vector<std::uint32_t> sectors;
    for (std::size_t k = 0; k < a.column.size(); k += tile) {
        sectors.clear();
        for (std::size_t i = k; i < std::min(k + tile, a.column.size()); ++i)
            sectors.push_back(a.column[i] / 4);
        std::sort(sectors.begin(), sectors.end());
        const auto end = std::unique(sectors.begin(), sectors.end());
        bytes += 32.0 * static_cast<double>(end - sectors.begin());
    }
    return bytes;
}

struct Summary {
    std::vector<double> work, seconds, theirs_work, theirs_seconds;
    double log_times = 0;

    void take(double of_work, double ours, std::optional<double> theirs) {
        work.push_back(of_work);
        seconds.push_back(ours);
        if (!theirs) return;
        theirs_work.push_back(of_work);
        theirs_seconds.push_back(*theirs);
        log_times += std::log(*theirs / ours);
    }
    void print(const char *name) const {
        const auto count = static_cast<double>(theirs_seconds.size());
        fmt::print("{}: {:.2f} times as fast as cuSPARSE in the geometric mean of {}; time follows the work "
                   "with correlation {:.4f}, cuSPARSE's with {:.4f}\n",
                   name, std::exp(log_times / std::max(count, 1.0)), count, correlation(work, seconds),
                   correlation(theirs_work, theirs_seconds));
    }
};

std::string microseconds(std::optional<double> seconds) {
    return seconds ? fmt::format("{:.1f}", 1e6 * *seconds) : "-";
}
std::string times(double ours, std::optional<double> theirs) {
    return theirs ? fmt::format("{:.2f}", *theirs / ours) : "-";
}

struct Bench {
    DeviceQueue &queue;
    SparseProduct &product;
    CuSparse *cusparse;
    int runs;
    bool small;

    void vectors_and_sums(const std::vector<Csr> &all) const {
        fmt::print("microseconds: y = A x; cuSPARSE's default and CSR_ALG2; C = A + A moved by a column\n");
        fmt::print("{:<28}{:>9}{:>10}{:>8}{:>9}{:>9}{:>9}{:>7}{:>7}{:>10}{:>10}{:>7}\n", "", "rows",
                   "entries", "cut", "A x", "default", "ALG2", "GB/s", "times", "A + A'", "theirs", "times");
        std::array<Summary, 2> products, sums, traffic; // synthetic, operators
        for (const Csr &a : all) {
            const VectorTimes m = time_vector_product(queue, cusparse, a, runs);
            const Times s = time_sum(queue, cusparse, a, moved(a), std::max(1, runs / 5));
            const double entries = a.first.back(), bytes = 12 * entries + 12.0 * a.rows() + 8.0 * a.columns;
            fmt::print("{:<28}{:>9}{:>10}{:>8.2f}{:>9.2f}{:>9}{:>9}{:>7.0f}{:>7}{:>10.1f}{:>10}{:>7}\n",
                       a.name, a.rows(), a.first.back(), 1e6 * m.cut, 1e6 * m.ours, microseconds(m.usual),
                       microseconds(m.balanced), bytes / m.ours / 1e9, times(m.ours, m.usual), 1e6 * s.ours,
                       microseconds(s.theirs), times(s.ours, s.theirs));
            std::fflush(stdout);
            products[a.is_operator].take(entries, m.ours, m.usual);
            traffic[a.is_operator].take(bytes_of_tiles(a), m.ours, m.usual);
            sums[a.is_operator].take(2 * entries, s.ours, s.theirs);
        }
        products[0].print("A x, synthetic");
        products[1].print("A x, operators");
        traffic[0].print("A x, synthetic, bytes as work");
        traffic[1].print("A x, operators, bytes as work");
        sums[0].print("A + A', synthetic");
        sums[1].print("A + A', operators");
    }

    void matrix_products(const std::vector<Csr> &all) const {
        fmt::print("\nmicroseconds: C = A A, of the LP A A^T\n{:<28}{:>12}{:>12}{:>12}{:>12}{:>8}\n", "",
                   "products", "entries", "ours", "theirs", "times");
        std::array<Summary, 2> products;
        for (const Csr &a : all) {
            // 2^32 single products and more are refused; the paper's memory did not have room either.
            if (a.name.starts_with("dense")) continue;
            const Csr b = a.rows() == a.columns ? a : transposed(a);
            const Times m = time_matrix_product(product, queue, cusparse, a, b,
                                                std::max(1, a.is_operator ? runs / 5 : 3));
            fmt::print("{:<28}{:>12}{:>12}{:>12.1f}{:>12}{:>8}\n", a.name, m.single, m.entries, 1e6 * m.ours,
                       microseconds(m.theirs), times(m.ours, m.theirs));
            std::fflush(stdout);
            products[a.is_operator].take(static_cast<double>(m.single), m.ours, m.theirs);
        }
        products[0].print("A A, synthetic");
        products[1].print("A A, operators");
    }

    void print(const std::string &name, const DiagonalTimes &t) const {
        fmt::print("{:<44}{:>11.1f}{:>12.1f}{:>12}{:>9.1f}{:>9}\n", name, 1e6 * t.by_diagonals,
                   1e6 * t.by_rows, microseconds(t.theirs), t.by_rows / t.by_diagonals,
                   times(t.by_diagonals, t.theirs));
        std::fflush(stdout);
    }

    void diagonals(Random &random) const {
        fmt::print("\nmicroseconds: by diagonals; by rows with our kernels; by rows with cuSPARSE; times\n");
        if (small) {
            bands(64, 5);
            structured(64, 9, 15, random);
            return;
        }
        for (std::uint32_t n = 1024; n <= 9216; n += 1024)
            for (const std::uint32_t half : {5U, 10U, 15U, 20U}) bands(n, half);
        using Row = std::array<std::uint32_t, 3>; // n, diagonals of A and of B: Tables 1 and 2
        for (const auto &[n, of_a, of_b] :
             {Row{1000, 9, 65}, Row{2000, 9, 15}, Row{3000, 29, 15}, Row{4000, 29, 35}, Row{5000, 59, 35},
              Row{6000, 89, 75}, Row{7000, 99, 75}, Row{8000, 109, 35}, Row{9000, 59, 75},
              Row{10000, 109, 35}, Row{10000, 200, 200}, Row{10000, 300, 300}, Row{10000, 400, 400},
              Row{10000, 500, 500}, Row{10000, 600, 600}})
            structured(n, of_a, of_b, random);
    }

  private:
    void bands(std::uint32_t n, std::uint32_t half) const {
        const DiagonalMatrix a = band_matrix(n, half);
        const std::string name = fmt::format("n = {}, {} to either side", n, half);
        print("CDM A x, " + name, time_diagonal_vector(queue, cusparse, a, runs));
        print("CDM A A, " + name,
              time_diagonal_product(product, queue, cusparse, a, a, std::max(1, runs / 5)));
    }
    void structured(std::uint32_t n, std::uint32_t of_a, std::uint32_t of_b, Random &random) const {
        const DiagonalMatrix a = random_diagonals(n, of_a, random), b = random_diagonals(n, of_b, random);
        print(fmt::format("HM A x, n = {}, {} diagonals", n, of_a),
              time_diagonal_vector(queue, cusparse, a, runs));
        print(fmt::format("HM A B, n = {}, {} and {} diagonals", n, of_a, of_b),
              time_diagonal_product(product, queue, cusparse, a, b, std::min(runs, 5)));
    }
};

std::vector<const char *> lattices(bool small) {
    if (small) return {"grid:6"};
    return {"grid:12",  "grid:14",  "grid:16",  "ring:12",  "ring:14",  "grid:2x5",
            "grid:2x6", "grid:2x7", "grid:3x4", "ring:2x6", "ring:4x3", "grid:4x4"};
}

} // namespace

int main(int argc, char **argv) try {
    CLI::App app("Sparse matrices on a GPU: times a vector, their sums and products, beside cuSPARSE.");
    int runs = 100;
    app.add_option("--runs", runs, "products that are timed together")->check(CLI::Range(1, 100000));
    std::string only;
    app.add_option("--only", only, "the matrices whose names have this in them, without diagonals");
    bool small = false;
    app.add_flag("--small", small,
                 "matrices of 32 rows, one lattice, 64 x 64 by diagonals: whether all runs");
    CLI11_PARSE(app, argc, argv);
    Random random(1);
    std::vector<Csr> all = synthetic_matrices(random, small ? 32 : std::numeric_limits<std::uint32_t>::max());
    for (const char *lattice : lattices(small)) all.push_back(operator_of(lattice));
    std::erase_if(all, [&](const Csr &a) { return a.name.find(only) == std::string::npos; });
    const Device device = open_device();
    DeviceQueue &queue = *device.queue;
    const std::array<KernelRecipe, 3> kernels{merge_product_kernels(), merge_sum_kernels(),
                                              diagonal_product_kernels()};
    queue.load(kernels);
    SparseProduct product(queue);
    std::optional<CuSparse> cusparse;
    try {
        if (device.is_gpu) cusparse.emplace();
        if (cusparse) fmt::print("cuSPARSE {}\n", cusparse->version());
    } catch (const std::exception &error) {
        fmt::print("without cuSPARSE: {}\n", error.what());
    }
    const Bench bench{queue, product, cusparse ? &*cusparse : nullptr, runs, small};
    bench.vectors_and_sums(all);
    bench.matrix_products(all);
    if (only.empty()) bench.diagonals(random);
    return 0;
} catch (const std::exception &error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
