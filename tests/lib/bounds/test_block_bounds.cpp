// Bounds of single blocks, without exact ones among them, against exact rational permanents.
#include "lib/bounds/block_bounds.hpp"
#include "lib/bounds/doubly_stochastic.hpp"
#include "lib/bounds/magnitudes.hpp"
#include "lib/bounds/upper_bounds.hpp"
#include "lib/number/wide_value.hpp"
#include "preprocess/matching.hpp"
#include "tests/support/adversarial.hpp"
#include "tests/support/check.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

using namespace libperm;
using namespace perm::families;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Block block_of(const perm::Csr &a) {
    Block block;
    block.pattern.rows = static_cast<std::int32_t>(a.n_rows);
    block.pattern.cols = static_cast<std::int32_t>(a.n_cols);
    block.pattern.row_ptr.clear();
    const Dense dense = to_dense(a);
    block.pattern.row_ptr.push_back(0);
    for (const auto &row : dense) {
        for (std::size_t j = 0; j < row.size(); ++j)
            if (row[j] != 0) {
                block.pattern.col.push_back(static_cast<std::int32_t>(j));
                block.values.push_back(tracked(row[j]));
            }
        block.pattern.row_ptr.push_back(std::ssize(block.pattern.col));
    }
    return block;
}

bool has_matching(const Block &block) { return maximum_matching(block.pattern).size == block.n(); }

mpq_class exact(const Scaled &x) { return shifted(mpq_class(x.mantissa), x.exp2); }

// 2^x, as a power that is between: for logarithms that a bound is compared with.
double log2_of(const mpq_class &x) {
    const Tracked t = tracked_of(x);
    return std::log2(t.value) + static_cast<double>(t.exp2);
}

struct Gaps {
    int compared = 0, lower = 0;
    double widest = 0;
};

// Both bounds hold, to the last bit. The gap, in bits for each row.
double check_bounds(const Magnitudes &m, const mpq_class &truth, Gaps &gaps) {
    const Bounded b = bounds_of_block(m);
    ++gaps.compared;
    CHECK_MESSAGE(exact(b.interval.lower) <= truth,
                  b.lower_method << " " << to_text(b.interval.lower, 17) << " > " << truth.get_d());
    CHECK_MESSAGE(exact(b.interval.upper) >= truth,
                  b.upper_method << " " << to_text(b.interval.upper, 17) << " < " << truth.get_d());
    if (!m.of_one_sign) CHECK(b.interval.lower.mantissa == 0);
    if (b.interval.lower.mantissa == 0) return std::numeric_limits<double>::infinity();
    ++gaps.lower;
    return log2_gap(b.interval) / m.n();
}

} // namespace

TEST_CASE("random matrices lie between their bounds") {
    Random random(run::seed(2501));
    Gaps gaps;
    int of_one_sign = 0;
    for (int i = 0; i < run::cases(3000); ++i) {
        const perm::Csr a = random_matrix(random.integer(1, 8), random);
        Block block = block_of(a);
        if (!has_matching(block)) continue;
        CAPTURE(describe(a));
        const Magnitudes m = magnitudes_between(block);
        of_one_sign += m.of_one_sign;
        const mpq_class truth = abs(oracle::by_frontier(a));
        const double gap = check_bounds(m, truth, gaps);
        if (m.of_one_sign) CHECK(gap <= 3);
    }
    CHECK(gaps.compared > run::enough(2000));
    CHECK(of_one_sign > run::enough(800));
    CHECK(gaps.lower == of_one_sign);
}

TEST_CASE("entries of any size, subnormal ones too") {
    Random random(run::seed(2502));
    Gaps gaps;
    for (int i = 0; i < run::cases(1500); ++i) {
        const oracle::GaussianMatrix a = adversarial(7, random);
        ExactBlock block;
        Block real;
        const auto n = static_cast<std::int32_t>(a.size());
        for (Pattern *p : {&block.pattern, &real.pattern}) p->rows = p->cols = n;
        bool is_real_matrix = true;
        for (const auto &row : a) {
            for (std::size_t j = 0; j < row.size(); ++j) {
                if (is_zero(row[j])) continue;
                is_real_matrix = is_real_matrix && is_real(row[j]);
                block.pattern.col.push_back(static_cast<std::int32_t>(j));
                block.values.push_back(row[j]);
                real.values.push_back(tracked_of(row[j].re));
            }
            block.pattern.row_ptr.push_back(std::ssize(block.pattern.col));
        }
        real.pattern = block.pattern;
        if (maximum_matching(block.pattern).size < n) continue;
        CAPTURE(text_of(a));
        const oracle::Gaussian truth = oracle::by_subsets(a);
        if (is_real_matrix) check_bounds(magnitudes_between(real), abs(truth.re), gaps);
        const Bounded b = bounds_of_block(magnitudes_between(block));
        const mpq_class square = truth.re * truth.re + truth.im * truth.im, lower = exact(b.interval.lower),
                        upper = exact(b.interval.upper);
        CHECK(lower * lower <= square);
        CHECK(upper * upper >= square);
        ++gaps.compared;
    }
    CHECK(gaps.compared > run::enough(1500));
    CHECK(gaps.lower > run::enough(100));
}

TEST_CASE("where bounds are tight they touch") {
    // All ones: van der Waerden's bound from below, Minc and Bregman's from above.
    for (const std::int64_t n : {2, 3, 5, 20, 100}) {
        CAPTURE(n);
        mpz_class factorial;
        mpz_fac_ui(factorial.get_mpz_t(), static_cast<unsigned long>(n));
        for (const double x : {1.0, 1 / static_cast<double>(n), 0.1, 0x1p-1070}) {
            mpq_class truth(factorial);
            for (std::int64_t k = 0; k < n; ++k) truth *= mpq_class(x);
            const Magnitudes m = magnitudes_between(block_of(constant(n, x)));
            Gaps gaps;
            CHECK(check_bounds(m, truth, gaps) < 1e-9);
        }
    }
    // Blocks of ones, and permutations: no bound is better than another.
    for (const std::int64_t n : {1, 2, 4}) {
        perm::Csr a = constant(n, 0.3);
        mpq_class one = 1;
        for (std::int64_t k = 1; k <= n; ++k) one *= mpq_class(0.3) * mpq_class(static_cast<long>(k));
        const mpq_class truth = one * one * one;
        Gaps gaps;
        CHECK(check_bounds(magnitudes_between(block_of(block_sum(block_sum(a, a), a))), truth, gaps) < 1.0);
        if (n == 1)
            CHECK(check_bounds(magnitudes_between(block_of(block_sum(block_sum(a, a), a))), truth, gaps) <
                  1e-9);
    }
}

TEST_CASE("long matrices of entries far apart") {
    // The identity and a shift: two perfect matchings. Rows and columns times powers of two.
    Random random(run::seed(2507));
    for (const std::int64_t n : {100, 6000}) {
        Block block;
        block.pattern.rows = block.pattern.cols = static_cast<std::int32_t>(n);
        std::vector<std::int64_t> row, column;
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < n; ++k) {
            row.push_back(random.integer(-500, 500));
            column.push_back(n > 5000 ? random.integer(-100, 100) : random.integer(-500, 500));
            sum += row.back() + column.back();
        }
        for (std::int64_t i = 0; i < n; ++i) {
            for (const std::int64_t j : {std::min(i, (i + 1) % n), std::max(i, (i + 1) % n)}) {
                block.pattern.col.push_back(static_cast<std::int32_t>(j));
                block.values.push_back(tracked(1));
                block.values.back().exp2 += row[at(i)] + column[at(j)];
            }
            block.pattern.row_ptr.push_back(std::ssize(block.pattern.col));
        }
        Gaps gaps;
        CHECK(check_bounds(magnitudes_between(block), shifted(2, sum), gaps) < 0.6);
    }
}

TEST_CASE("one heavy entry, one heavy permutation") {
    Random random(run::seed(2503));
    Gaps gaps;
    for (int i = 0; i < run::cases(300); ++i) {
        const std::int64_t n = random.integer(2, 8);
        Dense a(at(n), std::vector<double>(at(n)));
        for (auto &row : a)
            for (double &x : row) x = random.uniform(0.5, 1);
        const double heavy = std::pow(10.0, random.uniform(0, 250));
        if (random.chance(0.5)) {
            a[0][0] = heavy;
        } else {
            for (std::int64_t k = 0; k < n; ++k) a[at(k)][at(k)] *= std::sqrt(heavy);
        }
        const perm::Csr matrix = from_dense(a);
        CAPTURE(describe(matrix));
        CHECK(check_bounds(magnitudes_between(block_of(matrix)), oracle::by_frontier(matrix), gaps) < 1);
    }
}

TEST_CASE("each lower bound holds for each doubly stochastic matrix, each upper bound for all factors") {
    Random random(run::seed(2504));
    int compared = 0;
    constexpr double slack = 1e-12; // of the logarithms here
    for (int i = 0; i < run::cases(1000); ++i) {
        const std::int64_t n = random.integer(2, 7);
        const perm::Csr a = permutation_plus(n, random.integer(1, n), Entries::nonnegative, random.bits());
        const Block block = block_of(a);
        const Magnitudes m = magnitudes_between(block);
        CAPTURE(describe(a));
        const double truth = log2_of(oracle::by_frontier(a)) - static_cast<double>(m.exp2);
        // Of other entries on the same pattern: far from what is best.
        Weights w{m.pattern, {}};
        for (std::size_t k = 0; k < m.upper.size(); ++k) w.value.push_back(std::exp(random.uniform(-3, 3)));
        const Balanced s = balanced(w);
        std::vector<double> b = s.entry;
        correct_sums(m.pattern, b);
        if (const auto exactly = DoublyStochastic::near(m.pattern, b)) {
            std::vector<double> rows(at(n), 0.0),
                columns(at(n), 0.0); // sums of multiples of 2^-50: without a rounding
            std::size_t k = 0;
            for (std::int64_t r = 0; r < n; ++r)
                for (const std::int32_t j : m.pattern.row(static_cast<std::int32_t>(r))) {
                    CHECK((*exactly)[k] >= 0);
                    rows[at(r)] += (*exactly)[k];
                    columns[at(j)] += (*exactly)[k++];
                }
            for (std::int64_t r = 0; r < n; ++r) {
                CHECK(rows[at(r)] == 1);
                CHECK(columns[at(r)] == 1);
            }
            CHECK(bethe_below(m, *exactly) <= truth + slack);
            CHECK(gurvits_below(m, *exactly) <= truth + slack);
            ++compared;
        }
        CHECK(soules_above(m, s) >= truth - slack);
        CHECK(nesting_above(m) >= truth - slack);
        Beliefs of_others = beliefs(w, s);
        CHECK(bethe_above(m, of_others) >= truth - slack);
        for (double &z : of_others.column) z = std::exp(random.uniform(-2, 2));
        CHECK(bethe_above(m, of_others) >= truth - slack);
    }
    CHECK(compared > run::enough(700));
}

TEST_CASE("the norm knows of signs and phases") {
    // Of a unitary matrix |perm| is at most 1.
    for (const int n : {4, 16, 60}) {
        CAPTURE(n);
        ExactBlock fourier;
        fourier.pattern.rows = fourier.pattern.cols = n;
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                const double angle = 2 * std::numbers::pi * i * j / n, size = 1 / std::sqrt(n);
                fourier.pattern.col.push_back(j);
                fourier.values.push_back(
                    {mpq_class(size * std::cos(angle)), mpq_class(size * std::sin(angle))});
            }
            fourier.pattern.row_ptr.push_back(std::ssize(fourier.pattern.col));
        }
        const Bounded b = bounds_of_block(magnitudes_between(fourier));
        CHECK(std::string(b.upper_method) == "norm");
        CHECK(to_double(b.interval.upper) > 0.9);
        CHECK(to_double(b.interval.upper) < 1.4);
    }
    Random random(run::seed(2506));
    int compared = 0;
    for (int i = 0; i < run::cases(300); ++i) {
        const perm::Csr a =
            erdos_renyi(random.integer(2, 9), random.uniform(0.5, 1), Entries::real, random.bits());
        const Block block = block_of(a);
        if (!has_matching(block)) continue;
        CAPTURE(describe(a));
        const Magnitudes m = magnitudes_between(block);
        if (m.of_one_sign) continue;
        const mpq_class truth = abs(oracle::by_frontier(a));
        if (truth == 0) continue;
        CHECK(norm_above(m) >= log2_of(truth) - static_cast<double>(m.exp2) - 1e-12);
        ++compared;
    }
    CHECK(compared > run::enough(200));
}

TEST_CASE("sums of logarithms are within what they say") {
    Random random(run::seed(2505));
    for (int i = 0; i < run::cases(200); ++i) {
        LogSum sum;
        mpq_class product = 1;
        for (int k = 0; k < 60; ++k) {
            const double x = std::exp(random.uniform(-40, 40));
            const bool over = random.chance(0.5);
            sum.add_log2(x, over ? -1 : 1);
            product *= over ? mpq_class(1 / mpq_class(x)) : mpq_class(x);
        }
        CHECK(exact(power_of_two_below(sum.below(), 3)) <= product * 8);
        CHECK(exact(power_of_two_above(sum.above(), 3)) >= product * 8);
        CHECK(sum.above() - sum.below() < 1e-10);
    }
}
