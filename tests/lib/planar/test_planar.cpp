// Engine planar: boards and parts of them against exact sums over sets and determinants, in all kinds of
// numbers, and what is not planar.
#include "bench/families.hpp"
#include "lib/planar/signed_sum.hpp"
#include "tests/support/check.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace perm::families;
using oracle::Exact;

namespace {

// The dominoes of a board, of whose squares and neighbourhoods some are left out; lines in any order.
perm::Csr board(std::int64_t width, std::int64_t height, double kept, Entries entries, Random &random) {
    std::array<std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>, 2> squares;
    std::int64_t left_out = random.integer(0, 1);
    for (std::int64_t x = 0; x < width; ++x)
        for (std::int64_t y = 0; y < height; ++y) {
            auto &of_color = squares[static_cast<std::size_t>((x + y) % 2)];
            if (left_out > 0 && x % 3 == 1 && (x + y) % 2 == 0) {
                --left_out; // a hole, with a square of the other colour
                continue;
            }
            of_color.emplace(std::pair(x, y), static_cast<std::int64_t>(of_color.size()));
        }
    while (squares[1].size() > squares[0].size()) squares[1].erase(std::prev(squares[1].end()));
    while (squares[0].size() > squares[1].size()) squares[0].erase(std::prev(squares[0].end()));
    const auto n = static_cast<std::int64_t>(squares[0].size());
    const std::vector<std::int64_t> rows = random.permutation(n), cols = random.permutation(n);
    std::map<std::pair<std::int64_t, std::int64_t>, double> values;
    std::int64_t i = 0;
    for (const auto &[square, unused] : squares[0]) {
        std::int64_t j = 0;
        for (const auto &[other, unused_too] : squares[1]) {
            const auto away = std::abs(square.first - other.first) + std::abs(square.second - other.second);
            if (away == 1 && random.chance(kept))
                values[{rows[static_cast<std::size_t>(i)], cols[static_cast<std::size_t>(j)]}] =
                    random_entry(entries, random);
            ++j;
        }
        ++i;
    }
    return build(n, n, [&](std::int64_t row, std::int64_t col) {
        const auto found = values.find({row, col});
        return found == values.end() ? 0.0 : found->second;
    });
}

// By the engine, without reductions if they are left out, so that it has all of a matrix.
perm::Result by_planar(const perm::Csr &a, const char *without, const char *precision = nullptr) {
    perm_opts opts = with_engine("planar");
    opts.without = without;
    opts.precision = precision;
    return perm::compute(a, opts);
}

Exact number(const std::string &text) { return Exact(mpq_class(text)); }

} // namespace

TEST_CASE("parts of boards have the permanent that they have") {
    Random random(run::seed(0x706c61));
    int nonzero = 0, of_engine = 0;
    for (int k = 0; k < run::cases(600); ++k) {
        const auto entries = static_cast<Entries>(k % 5);
        const perm::Csr a = board(random.integer(3, 6), 4, random.uniform(0.8, 1), entries, random);
        CAPTURE(describe(a));
        const Exact truth = oracle::by_frontier(a);
        for (const char *without : {"", "d1,d2,fm"}) {
            perm::Result r = by_planar(a, without);
            check_result(*r.raw(), truth);
            if (truth == 0) continue;
            ++nonzero;
            if (std::string(r->engine) == "planar") ++of_engine;
            CHECK(r->rel_error_bound <= 1e-9);
            perm::Result exact = by_planar(a, without, "exact");
            CHECK(number(exact.text()) == truth);
        }
    }
    CHECK(nonzero > run::enough(400));
    CHECK(of_engine > run::enough(200));
}

// Two diagonals beside the main one, whose pivots cancel again and again, far from 1; then some that do not.
perm::Csr cancelling_chain(int exponent, int cancelling, int benign, Random &random) {
    std::vector<double> diagonal, above, below;
    Exact pivot = 1;
    const auto next = [&](double x) { // u + b c / u' for the pivot u' before
        diagonal.push_back(x);
        pivot = Exact(x) + (above.empty() ? Exact(0) : Exact(above.back()) * Exact(below.back()) / pivot);
    };
    next(std::ldexp(random.uniform(1, 2), exponent));
    for (int k = 0; k < cancelling; ++k) {
        const double size = std::sqrt(std::fabs(pivot.get_d())) * std::exp2(exponent / 2.0);
        above.push_back(size * random.uniform(1, 2));
        below.push_back(size * random.uniform(1, 2));
        const Exact rest = Exact(above.back()) * Exact(below.back()) / pivot;
        next(-rest.get_d());
        if (pivot == 0) return {};
    }
    for (int k = 0; k < benign; ++k) {
        above.push_back(std::ldexp(random.uniform(0.1, 1), exponent - 6));
        below.push_back(std::ldexp(random.uniform(0.1, 1), exponent - 6));
        next(std::ldexp(random.uniform(1, 2), exponent));
    }
    const auto n = static_cast<std::int64_t>(diagonal.size());
    const std::int64_t turned = random.integer(0, 1) * (n - 1);
    return build(n, n, [&](std::int64_t i, std::int64_t j) {
        const std::int64_t row = std::abs(turned - i), col = std::abs(turned - j);
        const auto first = static_cast<std::size_t>(std::min(row, col));
        return row == col        ? diagonal[first]
               : row - col == -1 ? above[first]
               : row - col == 1  ? below[first]
                                 : 0.0;
    });
}

TEST_CASE("balls of pivots that cancel far from 1") {
    Random random(run::seed(0x706c62));
    int compared = 0;
    for (int k = 0; k < run::cases(24); ++k) {
        const perm::Csr a =
            cancelling_chain(k % 2 == 0 ? 830 : -700, static_cast<int>(random.integer(1, 12)), 60, random);
        if (a.n_rows == 0) continue;
        const Exact truth = oracle::by_frontier(a);
        for (const char *without : {"all", "all,scaling"}) {
            perm::Result r = by_planar(a, without, "double");
            check_result(*r.raw(), truth);
            ++compared;
        }
    }
    CHECK(compared > run::enough(30));
}

TEST_CASE("strips at a corner of a board stay narrow") {
    const auto operations = [](std::int64_t length) {
        const perm::Csr a = grid(4, length);
        const std::string text = perm::Plan(a, with_engine("planar")).explain(PERM_FORMAT_JSON);
        const std::size_t place = text.find("\"operations\": ");
        REQUIRE(place != std::string::npos);
        return std::stod(text.substr(place + 14));
    };
    CHECK(operations(800) < 6 * operations(400)); // twice the lines, twice the primes
}

TEST_CASE("complex weights of a board") {
    Random random(run::seed(0x706c63));
    for (int k = 0; k < run::cases(60); ++k) {
        perm::Csr a = board(5, 4, 0.95, Entries::integers, random);
        for (const double x : a.values)
            a.complex_values.emplace_back(x, static_cast<double>(random.integer(-5, 5)));
        const auto other = [&] {
            perm_opts opts = with_engine("frontier");
            opts.precision = "exact";
            return perm::compute(a, opts);
        }();
        CHECK(by_planar(a, "d1,d2,fm", "exact").text() == other.text());
    }
}

TEST_CASE("boards of any size by default, exactly") {
    struct Known {
        std::int64_t size;
        std::string number;
    };
    for (const Known &known : {Known{8, "12988816"}, Known{16, "2444888770250892795802079170816"}}) {
        perm::Csr a = grid(known.size, known.size);
        a.pattern = true;
        CHECK(perm::compute(a).text() == known.number);
    }
    constexpr std::int64_t size = 20; // of which the oracle takes a second
    Random random(run::seed(0x706c64));
    const WeightedGrid weighted = weighted_grid(size, size, Entries::counts, random.bits());
    const std::vector<std::int64_t> counted(weighted.weights.values.begin(), weighted.weights.values.end());
    perm_csr integers = weighted.weights.view();
    integers.values = counted.data();
    integers.value_type = PERM_VALUE_I64;
    perm::Result r = perm::compute(integers);
    CHECK(std::string(r->engine) == "planar");
    CHECK(number(r.text()) == abs(oracle::determinant(weighted.kasteleyn)));
    const WeightedGrid doubles = weighted_grid(size, size, Entries::nonnegative, random.bits());
    perm::Result rounded = perm::compute(doubles.weights);
    CHECK(rounded->rel_error_bound <= 1e-9);
    check_result(*rounded.raw(), abs(oracle::determinant(doubles.kasteleyn)));
}

TEST_CASE("signs round faces") {
    Random random(run::seed(0x706c65));
    int faces_seen = 0;
    for (int k = 0; k < run::cases(50); ++k) {
        const perm::Csr a = board(6, 5, 1, Entries::ones, random);
        libperm::Pattern pattern;
        pattern.rows = pattern.cols = static_cast<std::int32_t>(a.n_rows);
        pattern.row_ptr = a.row_ptr;
        pattern.col.assign(a.col_idx.begin(), a.col_idx.end());
        const auto rotation = libperm::planar_rotation(pattern);
        REQUIRE(rotation.has_value());
        const libperm::PatternGraph graph(pattern);
        const libperm::Faces faces = libperm::faces_of(*rotation);
        CHECK(libperm::genus_of(*rotation, faces) == 0);
        const libperm::KasteleynSigns signs(graph, faces, libperm::Forest(graph));
        CHECK(signs.around_handles().empty());
        for (const auto &face : faces.darts) {
            if (face.size() < 4) continue;
            std::size_t negative = 0;
            for (const libperm::Dart d : face)
                negative += signs.is_negative()[static_cast<std::size_t>(libperm::entry_of(d))] ? 1 : 0;
            CHECK(negative % 2 == (face.size() % 4 == 0 ? 1 : 0));
            ++faces_seen;
        }
    }
    CHECK(faces_seen > run::enough(300));
}

TEST_CASE("what is not planar is told, or computed otherwise") {
    const perm::Csr full = constant(9, 1);
    perm_opts opts = with_engine("planar");
    opts.without = "all";
    try {
        perm::compute(full, opts);
        FAIL("K_{9,9} was drawn");
    } catch (const perm::Error &error) {
        CHECK(error.status() == PERM_UNSUPPORTED);
        CHECK(std::string(error.what()).find("in the plane") != std::string::npos);
    }
    // A board with one entry that crosses others.
    Random random(run::seed(0x706c66));
    for (int k = 0; k < run::cases(20); ++k) {
        perm::Csr a = grid(8, 6);
        Dense dense = to_dense(a);
        dense[0].back() = 1;
        dense[1][dense.size() - 3] = 1;
        const perm::Csr crossed = from_dense(dense);
        const Exact truth = oracle::by_frontier(crossed);
        check_result(*perm::compute(crossed).raw(), truth);
    }
}

TEST_CASE("a saved plan of a board, and shards of it, come to the same") {
    Random random(run::seed(0x706c67));
    const WeightedGrid board = weighted_grid(24, 24, Entries::counts, random.bits());
    perm_opts opts = PERM_OPTS_INIT;
    opts.precision = "exact";
    const perm::Plan plan(board.weights, opts);
    const std::string text = plan.execute(board.weights.values.data()).text();
    CHECK(number(text) == abs(oracle::determinant(board.kasteleyn)));
    const perm::Plan loaded = perm::Plan::load(plan.save(), opts);
    CHECK(loaded.execute(board.weights.values.data()).text() == text);
    const perm::Task task = perm::Task::plan(loaded, board.weights.values.data());
    std::vector<std::string> parts;
    for (std::int64_t k = 0; k < task.shards(); ++k) parts.push_back(task.run_shard(k));
    CHECK(task.combine(parts).front().text() == text);
}
