// Shots of planar blocks: their law, by chi-square against all matchings of small ones and marginals of a
// board; the same shots by other digits and in other batches; what is not planar.
#include "bench/families.hpp"
#include "lib/base/error.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/samples/planar/planar_shots.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <perm.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

using namespace libperm;
using namespace perm::families;

namespace {

using Shot = std::vector<std::uint32_t>; // entries, ascending

std::vector<SampledPart> parts_of(const perm::Csr &a) {
    const perm_csr csr = a.view();
    const InputPattern input = read_pattern(&csr);
    return sampled_parts(input, read_values(input, GivenValues(input, csr).data()));
}

// Each of them a matching of the pattern.
std::vector<Shot> drawn(const PlanarShots &shots, const Pattern &pattern, std::uint64_t first,
                        std::uint32_t count) {
    std::vector<std::uint32_t> taken;
    shots.draw(first, count, taken);
    std::vector<std::int32_t> row_of;
    for (std::int32_t i = 0; i < pattern.rows; ++i) row_of.insert(row_of.end(), pattern.row(i).size(), i);
    std::vector<Shot> out(count);
    REQUIRE(taken.size() == at(pattern.rows) * count);
    for (std::uint32_t k = 0; k < count; ++k) {
        std::vector<char> is_row(at(pattern.rows), 0), is_column(at(pattern.cols), 0);
        bool is_matching = true;
        for (std::size_t line = 0; line < at(pattern.rows) && is_matching; ++line) {
            const std::uint32_t entry = taken[line * count + k];
            is_matching = entry < row_of.size() && !std::exchange(is_row[at(row_of[entry])], char{1}) &&
                          !std::exchange(is_column[at(pattern.col[entry])], char{1});
            out[k].push_back(entry);
        }
        REQUIRE(is_matching);
        std::sort(out[k].begin(), out[k].end());
    }
    return out;
}

// log2 of each matching's weight.
void add_matchings(const SampledPart &part, std::int32_t row, std::vector<char> &is_used, Shot &so_far,
                   double weight, std::map<Shot, double> &out) {
    if (row == part.pattern.rows) {
        out[so_far] = weight;
        return;
    }
    for (std::int64_t k = part.pattern.row_begin(row); k < part.pattern.row_begin(row + 1); ++k) {
        const std::size_t column = at(part.pattern.col[at(k)]);
        if (is_used[column]) continue;
        const Tracked &x = part.entries[at(k)];
        is_used[column] = 1;
        so_far.push_back(static_cast<std::uint32_t>(k));
        add_matchings(part, row + 1, is_used, so_far,
                      weight + std::log2(x.value) + static_cast<double>(x.exp2), out);
        so_far.pop_back();
        is_used[column] = 0;
    }
}

std::map<Shot, double> law_of(const SampledPart &part) {
    std::map<Shot, double> law;
    std::vector<char> is_used(at(part.pattern.cols), 0);
    Shot none;
    add_matchings(part, 0, is_used, none, 0, law);
    double largest = -1e300, sum = 0;
    for (const auto &[matching, weight] : law) largest = std::max(largest, weight);
    for (auto &[matching, weight] : law) sum += weight = std::exp2(weight - largest);
    for (auto &[matching, weight] : law) weight /= sum;
    return law;
}

struct Square {
    double chi_square = 0, freedom = 0;

    // Observed less expected, in standard deviations (Wilson and Hilferty).
    double deviations() const {
        const double v = 2 / (9 * freedom);
        return (std::cbrt(chi_square / freedom) - (1 - v)) / std::sqrt(v);
    }
};

constexpr double unlikely = 5; // once in some millions

// Those that are expected fewer than five times count as one.
Square square_of(const std::map<Shot, double> &law, const std::vector<Shot> &shots) {
    std::map<Shot, double> counts;
    for (const Shot &shot : shots) ++counts[shot];
    Square out;
    double rare_count = 0, rare_expected = 0, bins = 0;
    const auto add = [&](double count, double expected) {
        out.chi_square += (count - expected) * (count - expected) / expected;
        ++bins;
    };
    for (const auto &[matching, share] : law) {
        const double expected = share * static_cast<double>(shots.size());
        if (expected >= 5) {
            add(counts[matching], expected);
        } else {
            rare_count += counts[matching];
            rare_expected += expected;
        }
    }
    if (rare_expected >= 5)
        add(rare_count, rare_expected);
    else
        CHECK(rare_count < 40);
    for (const auto &[matching, count] : counts) CHECK(law.contains(matching));
    out.freedom = bins - 1;
    return out;
}

double weight(int kind, Random &random) {
    switch (kind) {
    case 0:
        return 1;
    case 1:
        return 1 - random.uniform();
    case 2:
        return std::pow(10.0, random.uniform(-2, 2));
    case 3:
        return std::ldexp(random.uniform(0.5, 1), random.chance(0.5) ? 900 : -900);
    default:
        return std::pow(10.0, random.uniform(-307, 307));
    }
}

// At most 6 rows; of some the entries are those of a board.
perm::Csr random_matrix(int kind, Random &random) {
    if (random.chance(0.5)) {
        perm::Csr a = random.chance(0.3) ? grid(2, random.integer(2, 6)) : grid(3, 4);
        for (double &x : a.values) x = weight(kind, random);
        if (random.chance(0.3)) a.values[at(random.integer(0, std::ssize(a.values) - 1))] = 0; // explicitly
        return a;
    }
    const std::int64_t n = random.integer(1, 6);
    const std::vector<std::int64_t> matched = random.permutation(n);
    const double kept = random.uniform(0.2, 0.6);
    return build(n, n, [&](std::int64_t i, std::int64_t j) {
        return matched[at(i)] == j || random.chance(kept) ? weight(kind, random) : 0.0;
    });
}

PlanarShots made(const SampledPart &part, std::uint64_t seed, std::optional<int> bits = {}) {
    static const Options options;
    return {planar_outline(part).value(), part, seed, options, bits};
}

perm::Csr weighted_board(std::int64_t size, int kind, Random &random) {
    perm::Csr a = grid(size, size);
    for (double &x : a.values) x = weight(kind, random);
    return a;
}

} // namespace

TEST_CASE("each matching of a small planar block as often as its share says") {
    Random random(run::seed(0x706c7331));
    Square all;
    int compared = 0, not_planar = 0, of_one_line = 0;
    for (int k = 0; k < run::cases(400); ++k) {
        constexpr int kinds[] = {0, 1, 2, 1, 2, 3, 4};
        const perm::Csr a = random_matrix(kinds[k % 7], random);
        CAPTURE(describe(a));
        for (const SampledPart &part : parts_of(a)) {
            if (!planar_outline(part)) {
                ++not_planar;
                continue;
            }
            of_one_line += part.pattern.rows == 1;
            const PlanarShots shots = made(part, random.bits());
            const std::map<Shot, double> law = law_of(part);
            const Square one = square_of(law, drawn(shots, part.pattern, 0, k % 40 < 5 ? 100000 : 2000));
            ++compared;
            if (one.freedom < 1) continue;
            CHECK(one.deviations() < unlikely);
            all.chi_square += one.chi_square;
            all.freedom += one.freedom;
        }
    }
    CHECK(compared > run::enough(400));
    CHECK(not_planar > 0);
    CHECK(of_one_line > 0);
    CHECK(all.freedom > run::enough(800));
    CHECK(std::fabs(all.deviations()) < unlikely);
}

TEST_CASE("a board's entries as often as its marginals say") {
    Random random(run::seed(0x706c7332));
    constexpr std::uint32_t shots = 20000;
    for (const int kind : {0, 2}) {
        const perm::Csr a = weighted_board(8, kind, random);
        const perm::Plan plan(a);
        std::vector<double> marginals(a.values.size() + at(a.n_rows + a.n_cols));
        REQUIRE(perm_plan_marginals(plan.raw(), a.values.data(), marginals.data(), nullptr, nullptr) ==
                PERM_OK);
        std::map<std::pair<std::int32_t, std::int32_t>, double> counts;
        for (const SampledPart &part : parts_of(a)) {
            const PlanarShots lines = made(part, random.bits());
            for (const Shot &shot : drawn(lines, part.pattern, 0, shots))
                for (const std::uint32_t entry : shot) ++counts[{part.row[entry], part.column[entry]}];
        }
        double farthest = 0;
        for (std::int64_t i = 0; i < a.n_rows; ++i)
            for (std::int64_t e = a.row_ptr[at(i)]; e < a.row_ptr[at(i) + 1]; ++e) {
                const double p = marginals[at(e)], deviation = std::sqrt(shots * p * (1 - p));
                const double count =
                    counts[{static_cast<std::int32_t>(i), static_cast<std::int32_t>(a.col_idx[at(e)])}];
                if (deviation > 3) farthest = std::max(farthest, std::fabs(count - shots * p) / deviation);
            }
        CHECK(farthest > 0.5);
        CHECK(farthest < 5.5);
    }
}

TEST_CASE("the same shots in any digits and any batches") {
    Random random(run::seed(0x706c7333));
    for (int k = 0; k < run::cases(20); ++k) {
        const perm::Csr a = weighted_board(random.integer(2, 6) * 2, k % 5, random);
        for (const SampledPart &part : parts_of(a)) {
            constexpr std::uint32_t count = 40;
            const std::uint64_t seed = random.bits();
            const PlanarShots doubles = made(part, seed);
            CHECK(doubles.bits() == in_doubles);
            const std::vector<Shot> expected = drawn(doubles, part.pattern, 3, count);
            CHECK(drawn(made(part, seed, in_two_doubles), part.pattern, 3, count) == expected);
            CHECK(drawn(made(part, seed, 192), part.pattern, 3, count) == expected);
            // Hardly any digits: each shot fails, and is drawn again in more.
            CHECK(drawn(made(part, seed, 12), part.pattern, 3, count) == expected);
            const std::vector<Shot> few = drawn(doubles, part.pattern, 3, 7),
                                    others = drawn(doubles, part.pattern, 10, count - 7);
            CHECK(std::equal(few.begin(), few.end(), expected.begin()));
            CHECK(std::equal(others.begin(), others.end(), expected.begin() + 7));
        }
    }
}

TEST_CASE("orders of lines stay narrow, whatever order they are given in") {
    Random random(run::seed(0x706c7334));
    const auto products = [](const perm::Csr &a) {
        const std::vector<SampledPart> parts = parts_of(a);
        REQUIRE(parts.size() == 1);
        return planar_outline(parts.front()).value().order.products_shot;
    };
    for (const auto &[width, height] : {std::pair(20, 20), {4, 300}, {300, 4}, {12, 50}}) {
        const perm::Csr board = grid(width, height);
        const std::vector<std::int64_t> rows = random.permutation(board.n_rows),
                                        columns = random.permutation(board.n_cols);
        std::map<std::pair<std::int64_t, std::int64_t>, double> places;
        for (std::int64_t i = 0; i < board.n_rows; ++i)
            for (std::int64_t e = board.row_ptr[at(i)]; e < board.row_ptr[at(i) + 1]; ++e)
                places[{rows[at(i)], columns[at(board.col_idx[at(e)])]}] = 1;
        const perm::Csr mixed = build(board.n_rows, board.n_cols, [&](std::int64_t i, std::int64_t j) {
            return places.contains({i, j}) ? 1.0 : 0.0;
        });
        CAPTURE(width);
        CHECK(products(mixed) < 2 * products(grid(std::min(width, height), std::max(width, height))));
    }
}

TEST_CASE("what is not planar, and lines that may stay unmatched") {
    for (const SampledPart &part : parts_of(constant(3, 1))) CHECK_FALSE(planar_outline(part));
    perm::Csr rectangle = build(3, 4, [](std::int64_t i, std::int64_t j) { return j - i < 2 && j >= i; });
    int parts = 0;
    for (const SampledPart &part : parts_of(rectangle)) {
        ++parts;
        if (part.free_rows + part.free_columns > 0) CHECK_FALSE(planar_outline(part));
    }
    CHECK(parts > 0);
}

TEST_CASE("limits of memory, and a call that is cancelled") {
    const std::vector<SampledPart> parts = parts_of(grid(30, 30));
    const SampledPart &part = parts.front();
    const PlanarShots shots = made(part, 1);
    CallWatch little, cancelled;
    little.memory_limit = 1 << 10;
    cancelled.cancel = [](void *) { return 1; };
    std::vector<std::uint32_t> taken;
    try {
        const CurrentCall stops(cancelled);
        call().begin(1, 1);
        shots.draw(0, 1000, taken);
        FAIL("nobody was asked");
    } catch (const Error &error) {
        CHECK(error.status() == PERM_CANCELLED);
    }
    try {
        const CurrentCall limited(little);
        shots.draw(0, 1 << 20, taken);
        FAIL("there is no such memory");
    } catch (const Error &error) {
        CHECK(error.status() == PERM_REFUSED_MEMORY);
    }
}
