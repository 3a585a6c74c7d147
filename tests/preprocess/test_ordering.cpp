// The permanent ordering and the partition of its result, against slow versions of both and docs/ordering.md.
#include "bench/families.hpp"
#include "preprocess/permanent_ordering.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shared_matrix.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

using namespace libperm;
namespace families = perm::families;

namespace {

using Indices = std::vector<std::int32_t>;
using Grid = std::vector<std::vector<bool>>; // dense: all that the slow versions look at

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Grid grid_of(const Pattern &a) {
    Grid g(at(a.rows), std::vector<bool>(at(a.cols), false));
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i)) g[at(i)][at(j)] = true;
    return g;
}

Pattern random_pattern(std::int32_t n, double density, families::Random &random) {
    Pattern a;
    a.rows = a.cols = n;
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = 0; j < n; ++j)
            if (random.chance(density)) a.col.push_back(j);
        a.row_ptr.push_back(static_cast<std::int64_t>(a.col.size()));
    }
    return a;
}

Pattern square(std::int32_t n, double density) { // 0: empty, 1: full
    families::Random random(0);
    return random_pattern(n, density, random);
}

bool is_permutation_of(const Indices &p, std::int32_t n) {
    Indices sorted = p, all(at(n));
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 0);
    return sorted == all;
}

// Algorithm 3 as a sentence: counts afresh at every step, in the dense matrix.
struct SlowOrdering {
    Indices rows, cols, counts; // counts: of the chosen columns when they were chosen
};

SlowOrdering slow_ordering(const Grid &g, std::int32_t n) {
    SlowOrdering order;
    std::set<std::int32_t> free_rows;
    for (std::int32_t i = 0; i < n; ++i) free_rows.insert(i);
    for (std::int32_t step = 0; step < n; ++step) {
        std::int32_t chosen = -1;
        Indices rows_of_chosen;
        for (std::int32_t j = n - 1; j >= 0; --j) { // downwards: of equal ones the lowest stays
            if (std::count(order.cols.begin(), order.cols.end(), j) != 0) continue;
            Indices rows;
            for (const std::int32_t i : free_rows)
                if (g[at(i)][at(j)]) rows.push_back(i);
            if (chosen < 0 || rows.size() <= rows_of_chosen.size()) {
                chosen = j;
                rows_of_chosen = rows;
            }
        }
        order.cols.push_back(chosen);
        order.counts.push_back(static_cast<std::int32_t>(rows_of_chosen.size()));
        for (const std::int32_t i : rows_of_chosen) {
            order.rows.push_back(i);
            free_rows.erase(i);
        }
    }
    order.rows.insert(order.rows.end(), free_rows.begin(), free_rows.end());
    return order;
}

// Algorithm 4 in whole numbers: score = threads 2^(j+1) / (2 rows (2^(j+1) - 1) + (n - rows) ratio), compared
// by cross multiplication. n <= 14 keeps all of it far inside 64 bits, and the doubles of partition() exact
// up to the one division.
struct SlowPartition {
    std::int32_t k = 0, c = 0;
    std::vector<double> score;
};

SlowPartition slow_partition(const Grid &g, std::int32_t n, std::int64_t ratio,
                             const std::function<double(int)> &threads) {
    SlowPartition best;
    std::int64_t best_over = 0, best_under = 1;
    for (std::int32_t j = 0; j < n; ++j) {
        std::int32_t rows = n;
        const auto untouched = [&](std::int32_t i) {
            return std::none_of(g[at(i)].begin(), g[at(i)].begin() + j + 1, [](bool x) { return x; });
        };
        while (rows > 0 && untouched(rows - 1)) --rows;
        const std::int64_t power = std::int64_t{1} << (j + 1);
        const std::int64_t over = static_cast<std::int64_t>(threads(2 * rows)) * power;
        const std::int64_t under = 2 * rows * (power - 1) + (n - rows) * ratio;
        best.score.push_back(static_cast<double>(over) / static_cast<double>(under));
        if (over * best_under > best_over * under || rows == best.k) {
            best_over = over;
            best_under = under;
            best.k = rows;
            best.c = j + 1;
        }
    }
    return best;
}

Partition partition_of(const Pattern &a, const PartitionOptions &options = {}) {
    return partition(transpose(a).pattern, options);
}

Pattern ordered(const Pattern &a) { return reorder(a, permanent_ordering(a, transpose(a).pattern)).pattern; }

PartitionOptions with_ratio(double ratio) {
    PartitionOptions options;
    options.global_to_register = ratio;
    return options;
}

// The model with `more` registers beside x.
PartitionOptions with_more_registers(int more) {
    PartitionOptions options;
    options.threads = [more](int registers) { return resident_threads(registers + more); };
    return options;
}

void check_no_entry_left_of_partition(const Pattern &a, const Partition &p) {
    for (std::int32_t i = p.k; i < a.rows; ++i) CHECK((a.row(i).empty() || a.row(i)[0] >= p.c));
}

std::uint64_t test_seed() { return run::seed(0x6f72646572); }

} // namespace

TEST_CASE("the ordering is that of a slow version, and reordering keeps every entry") {
    for (std::uint64_t seed = test_seed(); seed < test_seed() + at(run::cases(400)); ++seed) {
        CAPTURE(seed);
        families::Random random(seed);
        const auto n = static_cast<std::int32_t>(random.integer(1, 20));
        const Pattern a = random_pattern(n, random.uniform(0, 0.7), random);
        const Ordering order = permanent_ordering(a, transpose(a).pattern);
        REQUIRE(is_permutation_of(order.rows, n));
        REQUIRE(is_permutation_of(order.cols, n));
        const Grid g = grid_of(a);
        const SlowOrdering slow = slow_ordering(g, n);
        CHECK(order.rows == slow.rows);
        CHECK(order.cols == slow.cols);

        const Reordered b = reorder(a, order);
        REQUIRE(b.pattern.nnz() == a.nnz());
        REQUIRE(b.source.size() == a.col.size());
        CHECK(std::set<std::int64_t>(b.source.begin(), b.source.end()).size() == a.col.size());
        const Grid h = grid_of(b.pattern);
        for (std::int32_t r = 0; r < n; ++r) {
            CHECK(std::is_sorted(b.pattern.row(r).begin(), b.pattern.row(r).end()));
            for (std::int32_t c = 0; c < n; ++c)
                CHECK(h[at(r)][at(c)] == g[at(order.rows[at(r)])][at(order.cols[at(c)])]);
            std::int64_t entry = b.pattern.row_begin(r);
            for (const std::int32_t c : b.pattern.row(r)) { // its source lies in its row and column of A
                const std::int64_t source = b.source[at(entry++)];
                const std::int32_t i = order.rows[at(r)];
                CHECK(source >= a.row_begin(i));
                CHECK(source < a.row_begin(i + 1));
                CHECK(a.col[at(source)] == order.cols[at(c)]);
            }
        }
    }
}

TEST_CASE("reordering carries the values along: the permanent stays") {
    for (std::uint64_t seed = test_seed(); seed < test_seed() + 20; ++seed) {
        CAPTURE(seed);
        const perm::Csr a = families::permutation_plus(9, 3, families::Entries::integers, seed);
        const Pattern p = pattern_of(a);
        const Reordered r = reorder(p, permanent_ordering(p, transpose(p).pattern));
        perm::Csr b = a;
        b.row_ptr.assign(r.pattern.row_ptr.begin(), r.pattern.row_ptr.end());
        b.col_idx.assign(r.pattern.col.begin(), r.pattern.col.end());
        for (std::size_t entry = 0; entry < r.source.size(); ++entry)
            b.values[entry] = a.values[at(r.source[entry])];
        CHECK(perm::compute(a).text() == perm::compute(b).text());
    }
}

TEST_CASE("the partition is that of a slow version in whole numbers") {
    int inside = 0; // partitions that split the matrix
    for (std::uint64_t seed = test_seed(); seed < test_seed() + at(run::cases(400)); ++seed) {
        CAPTURE(seed);
        families::Random random(seed);
        const auto n = static_cast<std::int32_t>(random.integer(1, 14));
        const Pattern any = random_pattern(n, random.uniform(0, 0.6), random);
        for (const Pattern &a : {any, ordered(any)}) {
            const Grid g = grid_of(a);
            for (const int ratio : {0, 1, 16, 1000})
                for (const int slope : {0, 1, 30}) { // 0: the default model
                    CAPTURE(ratio);
                    CAPTURE(slope);
                    PartitionOptions options = with_ratio(ratio);
                    if (slope != 0) options.threads = [=](int r) { return std::max(0, 900 - slope * r); };
                    const Partition p = partition_of(a, options);
                    const SlowPartition slow = slow_partition(g, n, ratio, options.threads);
                    CHECK(p.k == slow.k);
                    CHECK(p.c == slow.c);
                    CHECK(p.score == slow.score);
                    check_no_entry_left_of_partition(a, p);
                    inside += 0 < p.k && p.k < n;
                }
        }
    }
    CHECK(inside > 500);
}

TEST_CASE("the smallest, the empty and the full") {
    const Pattern none;
    CHECK(permanent_ordering(none, transpose(none).pattern).rows.empty());
    CHECK(permanent_ordering(none, transpose(none).pattern).cols.empty());
    CHECK(ordered(none).row_ptr == none.row_ptr);
    CHECK(partition_of(none).k == 0);
    CHECK(partition_of(none).score.empty());

    const Partition one = partition_of(ordered(square(1, 1)));
    CHECK(one.k == 1);
    CHECK(one.c == 1);
    CHECK(one.score == std::vector<double>{2048.0}); // 2 registers, updated by half of the steps

    const Pattern empty = square(5, 0);
    CHECK(permanent_ordering(empty, transpose(empty).pattern).rows == Indices{0, 1, 2, 3, 4});
    CHECK(partition_of(empty).k == 0);
    CHECK(partition_of(empty).c == 5);

    const Pattern full = square(7, 1);
    const Ordering order = permanent_ordering(full, transpose(full).pattern);
    CHECK(order.rows == Indices{0, 1, 2, 3, 4, 5, 6});
    CHECK(order.cols == Indices{0, 1, 2, 3, 4, 5, 6});
    CHECK(partition_of(full).k == 7); // by line 14: each column scores less than the one before
    CHECK(partition_of(full).c == 7);
    CHECK(partition_of(full).score[0] > partition_of(full).score[6]);
}

TEST_CASE("empty rows come last, in their order") {
    Pattern a; // rows 0 and 2 of 4 are empty
    a.rows = a.cols = 4;
    a.row_ptr = {0, 0, 2, 2, 4};
    a.col = {1, 3, 0, 2};
    const Ordering order = permanent_ordering(a, transpose(a).pattern);
    CHECK(order.rows == Indices{3, 1, 0, 2});
    CHECK(order.cols == Indices{0, 2, 1, 3});
}

TEST_CASE("slow memory at no cost, and at any cost") {
    int compared = 0;
    for (std::uint64_t seed = test_seed(); seed < test_seed() + 100; ++seed) {
        CAPTURE(seed);
        const auto n = static_cast<std::int32_t>(20 + seed % 30);
        const Pattern a =
            ordered(pattern_of(families::permutation_plus(n, 4, families::Entries::ones, seed)));
        const Pattern columns = transpose(a).pattern;
        // At no cost the fewest registers win: those of the first column, and all that needs no other.
        const Partition cheap = partition_of(a, with_ratio(0));
        CHECK(cheap.k == columns.row(0).back() + 1);
        CHECK((cheap.c == n || columns.row(cheap.c).back() >= cheap.k));
        check_no_entry_left_of_partition(a, cheap);
        // At any cost all of x is in registers, as long as a thread has them.
        const Partition dear = partition_of(a, with_ratio(1e300));
        CHECK(dear.k == n);
        CHECK(dear.c == n);
        const Partition usual = partition_of(a);
        CHECK(cheap.k <= usual.k);
        CHECK(usual.k <= dear.k);
        compared += cheap.k < usual.k && usual.k < n;
    }
    CHECK(compared > 50);
}

TEST_CASE("a column that needs no further row lowers the score to beat") {
    // 13 rows, ratio 20, threads constant: columns 0 and 1 touch 12 rows at costs 22 and 23, column 2 all at
    // 22.75, which beats column 1 but not column 0.
    Pattern columns;
    columns.rows = columns.cols = 13;
    for (std::int32_t j = 0; j < 13; ++j) {
        columns.col.push_back(j < 2 ? 11 : 12);
        columns.row_ptr.push_back(j + 1);
    }
    PartitionOptions options = with_ratio(20);
    options.threads = [](int) { return 1001; };
    const Partition p = partition(columns, options);
    CHECK(p.score[0] == 1001 / 22.0);
    CHECK(p.score[1] == 1001 / 23.0);
    CHECK(p.score[2] == 1001 / 22.75);
    CHECK(p.k == 13);
    CHECK(p.c == 13);
}

TEST_CASE("threads on a multiprocessor, and none beyond the registers a thread can have") {
    // With 24 beside x. 80 registers of x: 104 in all, 4 warps in each of the four parts.
    CHECK(registers_beside_x == 24);
    CHECK(resident_threads(0) == 2048);
    CHECK(resident_threads(8) == 2048);
    CHECK(resident_threads(9) == 1536);
    CHECK(resident_threads(24) == 1280);
    CHECK(resident_threads(80) == 512);
    CHECK(resident_threads(96) == 512);
    CHECK(resident_threads(231) == 256);
    CHECK(resident_threads(232) == 0);
    const Partition too_wide = partition_of(square(116, 1)); // 232 registers
    CHECK(too_wide.k == 0);
    CHECK(too_wide.c == 0);
    CHECK(too_wide.score.size() == 116);
    CHECK(partition_of(square(115, 1)).k == 115);
}

TEST_CASE("the example of docs/ordering.md") {
    const Pattern a = pattern_of(families::from_dense({{0, 0, 0, 0, 1, 1},
                                                       {0, 0, 1, 1, 1, 1},
                                                       {0, 1, 0, 0, 1, 0},
                                                       {0, 1, 0, 0, 1, 0},
                                                       {1, 0, 0, 0, 0, 0},
                                                       {1, 1, 1, 1, 0, 0}}));
    const Pattern b = pattern_of(families::from_dense({{1, 0, 0, 0, 0, 0},
                                                       {1, 1, 1, 0, 1, 0},
                                                       {0, 1, 1, 1, 0, 1},
                                                       {0, 0, 0, 1, 0, 1},
                                                       {0, 0, 0, 0, 1, 1},
                                                       {0, 0, 0, 0, 1, 1}}));
    const Ordering order = permanent_ordering(a, transpose(a).pattern);
    CHECK(order.cols == Indices{0, 2, 3, 5, 1, 4});
    CHECK(order.rows == Indices{4, 5, 1, 0, 2, 3});
    CHECK(slow_ordering(grid_of(a), 6).counts == Indices{2, 1, 0, 1, 2, 0});
    const Indices counts[] = {{2, 3, 2, 2, 4, 2},    {-1, 2, 1, 1, 4, 2},    {-1, 2, -1, 0, 3, 1},
                              {-1, 2, -1, -1, 3, 1}, {-1, 2, -1, -1, 2, -1}, {-1, -1, -1, -1, 0, -1}};
    const std::set<std::int32_t> brought[] = {{4, 5}, {1}, {}, {0}, {2, 3}, {}};
    Grid left = grid_of(a); // entries in rows not placed yet
    std::set<std::int32_t> placed;
    for (std::size_t step = 0; step < 6; ++step) {
        for (std::int32_t j = 0; j < 6; ++j)
            if (placed.count(j) == 0)
                CHECK(counts[step][at(j)] ==
                      std::count_if(left.begin(), left.end(), [j](const auto &row) { return row[at(j)]; }));
            else
                CHECK(counts[step][at(j)] == -1);
        placed.insert(order.cols[step]);
        std::set<std::int32_t> rows;
        for (std::int32_t i = 0; i < 6; ++i)
            if (left[at(i)][at(order.cols[step])]) rows.insert(i);
        CHECK(rows == brought[step]);
        for (const std::int32_t i : rows) left[at(i)].assign(6, false);
    }
    const Reordered r = reorder(a, order);
    CHECK(r.pattern.row_ptr == b.row_ptr);
    CHECK(r.pattern.col == b.col);

    const Partition p = partition_of(b);
    CHECK(p.k == 4);
    CHECK(p.c == 4);
    const double threads[] = {2048, 2048, 2048, 2048, 1536, 1536};
    const double in_registers[] = {2, 4.5, 5.25, 7.5, 11.625, 11.8125};
    const double in_slow_memory[] = {32, 12, 6, 2, 0, 0};
    const double rounded[] = {60.2, 124.1, 182.0, 215.6, 132.1, 130.0};
    REQUIRE(p.score.size() == 6);
    for (std::size_t j = 0; j < 6; ++j) {
        CHECK(p.score[j] == threads[j] / (in_registers[j] + in_slow_memory[j]));
        CHECK(std::abs(p.score[j] - rounded[j]) <= 0.05);
    }
    const Partition unordered = partition_of(a);
    CHECK(unordered.k == 6);
    CHECK(unordered.c == 6);
    CHECK(unordered.score[0] == 256);
}

// Figure 5 of the paper, on matrices of the same kind: "ordering significantly reduces register usage
// especially when the matrices are sparser, i.e., p <= 0.3".
TEST_CASE("registers with and without ordering: the table of docs/ordering.md") {
    struct Expected {
        const char *name;
        std::int64_t nnz;
        std::int32_t plain_registers, plain_c, ordered_registers, ordered_c;
    };
    const Expected table[] = {
        {"er40_10", 162, 80, 40, 20, 7},  {"er40_20", 288, 70, 2, 22, 6}, {"er40_30", 424, 80, 40, 38, 4},
        {"er40_40", 590, 80, 40, 56, 5},  {"er40_50", 788, 78, 1, 54, 3}, {"er45_10", 223, 82, 4, 24, 7},
        {"er45_20", 386, 90, 45, 32, 5},  {"er45_30", 600, 86, 1, 44, 4}, {"er45_40", 826, 86, 2, 48, 3},
        {"er45_50", 1024, 90, 45, 68, 4},
    };
    for (const Expected &expected : table) {
        CAPTURE(std::string(expected.name));
        perm::Csr csr;
        if (!shared_matrix(expected.name, csr)) continue;
        const Pattern plain = pattern_of(csr), better = ordered(plain);
        REQUIRE(plain.nnz() == expected.nnz);
        const Partition before = partition_of(plain), after = partition_of(better);
        CHECK(2 * before.k == expected.plain_registers);
        CHECK(before.c == expected.plain_c);
        CHECK(2 * after.k == expected.ordered_registers);
        CHECK(after.c == expected.ordered_c);
        // Whatever a thread needs beside x: fewer always, about half or less where the density is <= 0.3.
        const bool sparse = expected.name[5] <= '3'; // the nominal density
        for (int more = -registers_beside_x; more <= 8; ++more) {
            CAPTURE(more);
            const std::int32_t k_plain = partition_of(plain, with_more_registers(more)).k;
            const std::int32_t k_ordered = partition_of(better, with_more_registers(more)).k;
            CHECK(100 * k_ordered <= (sparse ? 53 : 85) * k_plain);
        }
    }
}
