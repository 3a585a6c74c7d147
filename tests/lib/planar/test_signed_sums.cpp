// Sums of determinants with signs, in exact numbers: of drawings on surfaces, whatever they are, and over
// crossings, against the definition.
#include "bench/families.hpp"
#include "lib/planar/signed_sum.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

using namespace perm::families;
using libperm::Dart;
using libperm::PatternGraph;
using libperm::SignedSum;
using oracle::Exact;

namespace {

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

// With a perfect matching.
perm::Csr random_matrix(std::int64_t n, double kept, Random &random) {
    const std::vector<std::int64_t> matched = random.permutation(n);
    return build(n, n, [&](std::int64_t i, std::int64_t j) {
        const bool is_kept = matched[at(i)] == j || random.chance(kept);
        return is_kept ? random_entry(Entries::integers, random) : 0.0;
    });
}

// Lines in any order round each line.
libperm::Rotation random_rotation(const PatternGraph &graph, Random &random) {
    libperm::Rotation rotation(at(graph.darts()));
    for (std::int32_t line = 0; line < graph.lines(); ++line) {
        const auto darts = graph.around(line);
        const std::vector<std::int64_t> order = random.permutation(std::ssize(darts));
        for (std::size_t k = 0; k < order.size(); ++k)
            rotation[at(darts[at(order[k])])] = darts[at(order[(k + 1) % order.size()])];
    }
    return rotation;
}

// The sum, by determinants of the matrix with the columns that the matching brings to the diagonal.
Exact summed(const perm::Csr &a, const PatternGraph &graph, const SignedSum &sum,
             const libperm::Matching &matching) {
    Exact total = 0;
    for (const SignedSum::Term &term : sum.terms) {
        const std::vector<signed char> factors = sum.factors(graph, term);
        Dense dense(at(a.n_rows), std::vector<double>(at(a.n_rows), 0));
        std::size_t entry = 0;
        for (std::int64_t i = 0; i < a.n_rows; ++i)
            for (auto k = a.row_ptr[at(i)]; k < a.row_ptr[at(i) + 1]; ++k, ++entry)
                dense[at(i)][at(matching.row_of_col[at(a.col_idx[at(k)])])] =
                    factors[entry] * a.values[entry];
        const Exact determinant = oracle::determinant(from_dense(dense));
        total += term.is_odd ? Exact(-determinant) : determinant;
    }
    for (std::int32_t k = 0; k < sum.genus; ++k) total /= 2;
    return total;
}

} // namespace

TEST_CASE("any drawing on any surface: 4^g determinants are the permanent") {
    Random random(run::seed(0x746f72));
    std::vector<int> of_genus(5, 0);
    for (int k = 0; k < run::cases(1500); ++k) {
        const perm::Csr a = random_matrix(random.integer(2, 7), random.uniform(0.1, 0.6), random);
        const libperm::Pattern pattern = pattern_of(a);
        const PatternGraph graph(pattern);
        const libperm::Rotation rotation = random_rotation(graph, random);
        const std::int32_t genus = libperm::genus_of(rotation, libperm::faces_of(rotation));
        REQUIRE(genus >= 0);
        if (genus > 4) continue;
        const libperm::Matching matching = libperm::maximum_matching(pattern);
        REQUIRE(matching.size == pattern.rows);
        const SignedSum sum = libperm::sum_on_surface(graph, rotation, matching);
        CHECK(sum.genus == genus);
        CHECK(sum.terms.size() == std::size_t{1} << 2 * genus);
        CHECK(summed(a, graph, sum, matching) == oracle::by_definition(a));
        ++of_genus[at(genus)];
    }
    for (const int count : of_genus) CHECK(count > run::enough(50));
}

TEST_CASE("crossings: a determinant for each set of them that may be used") {
    Random random(run::seed(0x63726f));
    int compared = 0, with_several = 0;
    for (int k = 0; k < run::cases(1500); ++k) {
        const perm::Csr a = random_matrix(random.integer(2, 7), random.uniform(0.1, 0.6), random);
        const libperm::Pattern pattern = pattern_of(a);
        std::vector<std::int32_t> crossings;
        const double share = random.uniform(0, 0.5);
        for (std::int32_t e = 0; e < pattern.nnz(); ++e)
            if (random.chance(share)) crossings.push_back(e);
        const libperm::Matching matching = libperm::maximum_matching(pattern);
        const auto sum = libperm::sum_over_crossings(pattern, crossings, matching, 4096);
        if (!sum) continue;
        CHECK(sum->crossings() == crossings);
        CHECK(summed(a, PatternGraph(pattern), *sum, matching) == oracle::by_definition(a));
        ++compared;
        if (sum->terms.size() > 4) ++with_several;
    }
    CHECK(compared > run::enough(500));
    CHECK(with_several > run::enough(100));
}

TEST_CASE("more sets of crossings than are wanted are none") {
    const perm::Csr a = constant(5, 1);
    const libperm::Pattern pattern = pattern_of(a);
    std::vector<std::int32_t> all(at(pattern.nnz()));
    for (std::size_t e = 0; e < all.size(); ++e) all[e] = static_cast<std::int32_t>(e);
    const libperm::Matching matching = libperm::maximum_matching(pattern);
    CHECK(!libperm::sum_over_crossings(pattern, all, matching, 100));
    const auto sum = libperm::sum_over_crossings(pattern, all, matching, 4096);
    REQUIRE(sum.has_value());
    CHECK(sum->terms.size() == 120);
    CHECK(!libperm::sum_over_crossings(pattern, {}, matching, 4096)); // K_{5,5} is not planar
}
