// What the families shaped as in applications promise: their order, a perfect matching, the same matrix for
// the same seed, and what bench/families.hpp says of each.
#include "bench/families.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

using namespace perm::families;
using oracle::Exact;

namespace {

struct Family {
    std::string name;
    std::int64_t n;
    std::function<perm::Csr(Entries entries, std::uint64_t seed)> make;
    bool random_pattern = true;
};

const std::vector<Family> &all_families() {
    static const std::vector<Family> table{
        {"mesh2d", 60, [](auto... x) { return mesh2d(6, 10, x...); }, false},
        {"mesh2d9", 40, [](auto... x) { return mesh2d9(5, 8, x...); }, false},
        {"mesh3d", 36, [](auto... x) { return mesh3d(3, 3, 4, x...); }, false},
        {"power_network", 200, [](auto... x) { return power_network(200, x...); }},
        {"block_tree", 42, [](auto... x) { return block_tree(7, 6, x...); }},
        {"process", 67, [](auto... x) { return process(67, x...); }},
        {"block_triangular", 60, [](auto... x) { return block_triangular(10, 6, 0.3, x...); }},
        {"chain_of_blocks", 500, [](auto... x) { return chain_of_blocks(100, 5, 0.3, x...); }},
        {"degree_chains", 150, [](auto... x) { return degree_chains(150, 12, x...); }},
        {"repeated_lines", 30, [](auto... x) { return repeated_lines(30, 4, 5, x...); }},
        {"proportional_lines", 30, [](auto... x) { return proportional_lines(30, 4, 5, x...); }},
    };
    return table;
}

bool same(const perm::Csr &a, const perm::Csr &b) {
    return a.row_ptr == b.row_ptr && a.col_idx == b.col_idx && a.values == b.values;
}

// Whether row i finds a column, moving the rows that have one where needed (Kuhn 1955).
bool matched(const perm::Csr &a, std::int64_t i, std::vector<std::int64_t> &row_of,
             std::vector<bool> &tried) {
    const auto row = static_cast<std::size_t>(i);
    for (std::int64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
        const auto j = static_cast<std::size_t>(a.col_idx[static_cast<std::size_t>(k)]);
        if (tried[j]) continue;
        tried[j] = true;
        if (row_of[j] >= 0 && !matched(a, row_of[j], row_of, tried)) continue;
        row_of[j] = i;
        return true;
    }
    return false;
}

bool has_matching(const perm::Csr &a) {
    const auto n = static_cast<std::size_t>(a.n_rows);
    std::vector<std::int64_t> row_of(n, -1);
    for (std::int64_t i = 0; i < a.n_rows; ++i) {
        std::vector<bool> tried(n, false);
        if (!matched(a, i, row_of, tried)) return false;
    }
    return true;
}

// How many lines have 1, 2, ... entries.
std::map<std::int64_t, int> row_degrees(const perm::Csr &a) {
    std::map<std::int64_t, int> lines;
    for (std::size_t i = 0; i + 1 < a.row_ptr.size(); ++i) ++lines[a.row_ptr[i + 1] - a.row_ptr[i]];
    return lines;
}

double entries_per_row(const perm::Csr &a) {
    return static_cast<double>(a.col_idx.size()) / static_cast<double>(a.n_rows);
}

// Each row divided by its first entry that is not 0: equal for rows that are proportional.
std::set<std::vector<Exact>> directions(const perm::Csr &a) {
    std::set<std::vector<Exact>> distinct;
    for (const std::vector<double> &row : to_dense(a)) {
        const double first = *std::ranges::find_if(row, [](double x) { return x != 0; });
        std::vector<Exact> direction;
        for (const double x : row) direction.push_back(Exact(x) / Exact(first));
        distinct.insert(direction);
    }
    return distinct;
}

std::set<std::vector<double>> distinct_rows(const perm::Csr &a) {
    const Dense rows = to_dense(a);
    return {rows.begin(), rows.end()};
}

} // namespace

TEST_CASE("a seed tells the matrix") {
    const std::uint64_t seed = run::seed(60);
    for (const Family &family : all_families()) {
        CAPTURE(family.name);
        for (const Entries entries : {Entries::ones, Entries::nonnegative, Entries::real, Entries::counts}) {
            const perm::Csr a = family.make(entries, seed);
            CHECK(a.n_rows == family.n);
            CHECK(a.n_cols == family.n);
            CHECK(same(a, family.make(entries, seed)));
            if (entries != Entries::ones || family.random_pattern)
                CHECK(!same(a, family.make(entries, seed + 1)));
            if (entries != Entries::real)
                CHECK(std::ranges::all_of(a.values, [](double x) { return x > 0; }));
        }
    }
}

TEST_CASE("every family has a perfect matching") {
    Random random(run::seed(61));
    for (const Family &family : all_families())
        for (int i = 0; i < run::cases(20); ++i) {
            const std::uint64_t seed = random.bits();
            CAPTURE(family.name);
            CAPTURE(seed);
            CHECK(has_matching(family.make(Entries::real, seed)));
        }
}

TEST_CASE("meshes: in one dimension the tridiagonal matrix, and counts of entries") {
    const auto ones = Entries::ones;
    CHECK(same(mesh2d(1, 9, ones, 1), tridiagonal(9, 1, 1, 1)));
    CHECK(same(mesh2d9(9, 1, ones, 1), tridiagonal(9, 1, 1, 1)));
    CHECK(same(mesh2d9(2, 2, ones, 1), constant(4, 1)));
    CHECK(same(mesh3d(7, 5, 1, ones, 1), mesh2d(7, 5, ones, 1)));
    CHECK(mesh2d(7, 5, ones, 1).col_idx.size() == 7 * 5 + 2 * (6 * 5 + 7 * 4));
    CHECK(mesh2d9(7, 5, ones, 1).col_idx.size() == 7 * 5 + 2 * (6 * 5 + 7 * 4 + 2 * 6 * 4));
    CHECK(mesh3d(2, 3, 4, ones, 1).col_idx.size() == 24 + 2 * (1 * 12 + 2 * 8 + 3 * 6));
}

TEST_CASE("power networks are connected, of few lines, with a diagonal and a symmetric pattern") {
    const std::uint64_t first = run::seed(62);
    for (std::uint64_t seed = first; seed < first + 5; ++seed)
        for (const std::int64_t n : {1, 2, 49, 300}) {
            CAPTURE(seed);
            CAPTURE(n);
            const perm::Csr a = power_network(n, Entries::ones, seed);
            CHECK(same(a, transpose(a)));
            const Dense x = to_dense(a);
            std::vector<std::size_t> reached{0};
            std::set<std::size_t> left;
            for (std::size_t i = 0; i < x.size(); ++i) {
                CHECK(x[i][i] == 1);
                if (i > 0) left.insert(i);
            }
            for (std::size_t k = 0; k < reached.size(); ++k)
                std::erase_if(left, [&](std::size_t j) {
                    if (x[reached[k]][j] == 0) return false;
                    reached.push_back(j);
                    return true;
                });
            CHECK(left.empty());
            if (n < 49) continue;
            CHECK(entries_per_row(a) > 3.0);
            CHECK(entries_per_row(a) < 3.8);
            CHECK(row_degrees(a).rbegin()->first <= 7);
        }
}

TEST_CASE("processes have some 4.4 entries in a row, in no symmetry") {
    const std::uint64_t first = run::seed(63);
    for (std::uint64_t seed = first; seed < first + 5; ++seed) {
        CAPTURE(seed);
        const perm::Csr a = process(67, Entries::ones, seed);
        CHECK(entries_per_row(a) > 3.9);
        CHECK(entries_per_row(a) < 4.9);
        CHECK(row_degrees(a).rbegin()->first <= 6);
        CHECK(!same(a, transpose(a)));
    }
}

TEST_CASE("coupled blocks: the product of the blocks") {
    using Coupled = perm::Csr (*)(std::int64_t, std::int64_t, double, Entries, std::uint64_t);
    const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{{1, 7}, {9, 1}, {5, 2}, {4, 5}};
    Random random(run::seed(64));
    for (const Coupled coupled : {block_triangular, chain_of_blocks})
        for (const auto &[count, size] : shapes)
            for (const Entries entries : {Entries::counts, Entries::integers, Entries::real}) {
                const std::uint64_t seed = random.bits();
                CAPTURE(count);
                CAPTURE(size);
                CAPTURE(seed);
                Exact product = 1;
                std::size_t stored = 0;
                for (const perm::Csr &block : indecomposable_blocks(count, size, 0.3, entries, seed)) {
                    product *= oracle::by_definition(block);
                    stored += block.col_idx.size();
                }
                const perm::Csr a = coupled(count, size, 0.3, entries, seed);
                CHECK(a.col_idx.size() >= stored + static_cast<std::size_t>(count) - 1);
                check_result(*perm::compute(a).raw(), product);
            }
}

TEST_CASE("blocks are fully indecomposable: every minor has a matching") {
    for (const perm::Csr &block : indecomposable_blocks(5, 6, 0.2, Entries::ones, run::seed(65)))
        for (std::int64_t i = 0; i < 6; ++i)
            for (std::int64_t j = 0; j < 6; ++j) CHECK(oracle::by_definition(minor_of(block, i, j)) > 0);
}

TEST_CASE("chains have one or two entries in a line") {
    const std::uint64_t first = run::seed(66);
    const std::int64_t core = 12;
    for (std::uint64_t seed = first; seed < first + 5; ++seed)
        for (const std::int64_t n : {core, core + 1, std::int64_t{80}, std::int64_t{300}}) {
            CAPTURE(seed);
            CAPTURE(n);
            const perm::Csr a = degree_chains(n, core, Entries::integers, seed);
            for (const perm::Csr &lines : {a, transpose(a)}) {
                auto degrees = row_degrees(lines);
                CHECK(degrees[0] == 0);
                CHECK(degrees[1] + degrees[2] >= n - core);
            }
            if (n == 300) CHECK(row_degrees(a)[1] > 0);
            if (n <= 80) check_result(*perm::compute(a).raw(), oracle::by_frontier(a));
        }
}

TEST_CASE("repeated and proportional lines are of few kinds") {
    Random random(run::seed(67));
    for (int i = 0; i < 20; ++i) {
        const std::int64_t rows = random.integer(1, 5), columns = random.integer(1, 5);
        const std::int64_t n = std::max(rows, columns) + random.integer(0, 9);
        const auto entries = static_cast<Entries>(random.integer(0, 4));
        const std::uint64_t seed = random.bits();
        CAPTURE(seed);
        const perm::Csr a = repeated_lines(n, rows, columns, entries, seed);
        CHECK(std::ssize(distinct_rows(a)) <= rows);
        CHECK(std::ssize(distinct_rows(transpose(a))) <= columns);
        const perm::Csr b = proportional_lines(n, rows, columns, entries, seed);
        CHECK(std::ssize(directions(b)) <= rows);
        CHECK(std::ssize(directions(transpose(b))) <= columns);
        check_result(*perm::compute(a).raw(), oracle::by_frontier(a));
        check_result(*perm::compute(b).raw(), oracle::by_frontier(b));
    }
    // 30 lines with 81 * 17 factors are hardly ever of few kinds before division.
    const perm::Csr b = proportional_lines(30, 4, 5, Entries::real, run::seed(68));
    CHECK(distinct_rows(b).size() > 8);
    CHECK(distinct_rows(transpose(b)).size() > 8);
}
