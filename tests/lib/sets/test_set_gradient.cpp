// Marginals by tables over sets, against exact rational ones and against themselves: with fewer tables kept,
// with more threads.
#include "tests/support/run.hpp"
#include "tests/support/set_gates.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace libperm;
using namespace perm::families;
using namespace gates;
using oracle::Gaussian;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Gaussian &number(MatchingMatrix &of, MatchingInput::Place place) {
    if (place.row < 0) return (*of.col_weights)[at(place.col)];
    if (place.col < 0) return (*of.row_weights)[at(place.row)];
    return of.entries[at(place.row)][at(place.col)];
}

mpq_class exact(const Scaled &x) {
    mpq_class out(x.mantissa);
    if (x.exp2 >= 0)
        out <<= static_cast<mp_bitcnt_t>(x.exp2);
    else
        out >>= static_cast<mp_bitcnt_t>(-x.exp2);
    return out;
}

} // namespace

TEST_CASE("tables over sets: probabilities are within their bounds of the exact ones") {
    Random random(run::seed(2501));
    int compared = 0, impossible = 0, apart = 0;
    const std::pair<const char *, Draw> kinds[]{{"alike", uniform}, {"far apart", far_apart}};
    for (const auto &[name, draw] : kinds)
        for (int i = 0; i < run::cases(40); ++i) {
            const int most = run::sanitized ? 7 : 9; // what they are compared with takes most of the time
            MatchingMatrix a =
                drawn(random, random.integer(0, most), random.integer(0, most), random.uniform(0.2, 1), draw);
            const MatchingInput input(a, PERM_VALUE_F64, random);
            CAPTURE(name);
            CAPTURE(i);
            const auto found = found_in(input, {});
            if (!found && std::string(name) == "far apart") continue; // that is said
            REQUIRE(found.has_value());
            const mpq_class whole = oracle::over_matchings(a).re;
            if (whole == 0) {
                CHECK(found->value.value.mantissa == 0);
                ++impossible;
                continue;
            }
            CHECK(abs(exact(found->value.value) - whole) <= mpq_class(found->value.rel_error_bound) * whole);
            CHECK(found->value.rel_error_bound < 1e-12);
            const auto nnz = at(input.csr().nnz);
            for (std::size_t k = 0; k < input.places().size(); ++k) {
                MatchingMatrix without = a;
                number(without, input.places()[k]) = Gaussian{};
                const std::size_t to = k < nnz || a.row_weights ? k : k + a.entries.size();
                const mpq_class share = (whole - oracle::over_matchings(without).re) / whole;
                CHECK_MESSAGE(abs(mpq_class(found->marginals[to]) - share) <= mpq_class(found->bounds[to]),
                              found->marginals[to] << " +- " << found->bounds[to] << " is " << share.get_d());
                CHECK(found->bounds[to] <= 1e-12);
                ++compared;
                apart += std::string(name) == "far apart" ? 1 : 0;
            }
        }
    CHECK(compared > run::enough(1500));
    CHECK(apart > run::enough(100));
    CHECK(impossible > 0);
}

TEST_CASE("tables over sets: the same bits with few tables kept, and on any number of threads") {
    Random random(run::seed(2502));
    struct Size {
        std::int64_t rows, cols;
        double density;
    };
    int fewer = 0;
    for (const Size size : {Size{17, 24, 1}, Size{40, 16, 1}, Size{25, 50, 0.1}, Size{60, 22, 0.3}})
        for (const Draw &draw : {Draw(uniform), Draw(far_apart)}) {
            const MatchingMatrix a = drawn(random, size.rows, size.cols, size.density, draw);
            const MatchingInput input(a, PERM_VALUE_F64, random);
            const auto whole = found_in(input, {});
            if (!whole) continue;
            const auto threads = found_in(input, {.threads = 2});
            REQUIRE(threads.has_value());
            CHECK(is_same(*whole, *threads));
            for (const std::int64_t memory :
                 {std::int64_t{3} << 20, std::int64_t{10} << 20, std::int64_t{100} << 20}) {
                const auto few = found_in(input, {.memory = memory, .threads = 2});
                if (!few) continue;
                ++fewer;
                CHECK(is_same(*whole, *few));
            }
            if (whole->value.value.mantissa == 0) continue;
            // A line is matched or not.
            double off = 0;
            const std::size_t nnz = at(input.csr().nnz);
            std::vector<double> rows(whole->marginals.begin() + static_cast<std::ptrdiff_t>(nnz),
                                     whole->marginals.end() - 1);
            for (std::size_t k = 0; k < nnz; ++k) {
                rows[at(input.places()[k].row)] += whole->marginals[k];
                rows[at(size.rows + input.places()[k].col)] += whole->marginals[k];
            }
            for (const double sum : rows) off = std::max(off, std::fabs(sum - 1));
            CHECK(off < 1e-11);
        }
    CHECK(fewer > 5);
}

TEST_CASE("tables over sets: what would take too many is not for them") {
    Random random(run::seed(2503));
    const MatchingInput wide(drawn(random, 60, 60, 1, uniform), PERM_VALUE_F64, random);
    CHECK(!found_in(wide, {}).has_value());
    const MatchingInput large(drawn(random, 22, 60, 1, uniform), PERM_VALUE_F64, random);
    CHECK(!found_in(large, {.memory = 1 << 24}).has_value());
}

TEST_CASE("tables over sets: a call that is to stop stops") {
    Random random(run::seed(2504));
    const MatchingInput input(drawn(random, 18, 40, 1, uniform), PERM_VALUE_F64, random);
    const InputPattern read = read_pattern(&input.csr());
    const auto sets = SetGradient::of(as_given(read), Options{});
    REQUIRE(sets != nullptr);
    CallWatch watch;
    watch.stop_seconds = 1e-6;
    CurrentCall control(watch);
    std::vector<double> marginals(at(input.csr().nnz + 18 + 40)), own;
    CHECK_THROWS(static_cast<void>(
        sets->run(plain_weights(as_given(read), input.values(), own), marginals.data(), nullptr)));
}
