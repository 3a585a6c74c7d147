// Small matrices made to break error bounds, in every precision by every engine of the CPU, against exact
// permanents over Q(i): the bound is never below the true error, and `exact` is.
#include "lib/base/error.hpp"
#include "lib/execute/execute.hpp"
#include "lib/run/answer.hpp"
#include "lib/run/run_control.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using libperm::Gaussian, libperm::Outcome, libperm::Scaled;
using oracle::GaussianMatrix;
using perm::families::Random;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

mpq_class exactly(const Scaled &x) { return libperm::shifted(mpq_class(x.mantissa), x.exp2); }

mpq_class squared(const Gaussian &x) { return x.re * x.re + x.im * x.im; }

mpq_class squared_distance(const Gaussian &x, const Gaussian &y) {
    return squared({x.re - y.re, x.im - y.im});
}

// What perm_compute does, seen from inside.
Outcome outcome_of(const perm_csr &a, const perm_opts &opts) {
    const libperm::Options options = libperm::read_options(&opts);
    libperm::RunControl control(options);
    libperm::InputPattern input = libperm::read_pattern(&a);
    libperm::Values values = libperm::read_values(input, a.values);
    libperm::simplify(input, values);
    const libperm::Plan plan = libperm::make_plan(std::move(input), options, values, control);
    return libperm::execute(plan, values, control);
}

// ---------------------------------------------------------------- matrices

double rounded(const mpq_class &x) { return std::clamp(x.get_d(), -1e300, 1e300); }

// Of a number that rounds, times a power of ten that `kind` allows.
Gaussian entry(int kind, bool complex, Random &random) {
    constexpr double exponents[][2] = {{0, 0}, {-1, 1}, {-150, 150}, {-300, 300}, {-310, -290}};
    const auto part = [&] {
        if (random.chance(0.2)) return 0.0;
        const auto &[low, high] = exponents[kind];
        const double exponent =
            random.chance(0.5) ? (random.chance(0.5) ? low : high) : random.uniform(low, high);
        const double size = random.chance(0.3) ? 1 : random.uniform(0.5, 1);
        return (random.chance(0.5) ? 1 : -1) * size * std::pow(10.0, exponent);
    };
    const double re = part();
    return {mpq_class(re), mpq_class(complex && random.chance(0.7) ? part() : 0.0)};
}

Gaussian times(const Gaussian &x, double factor) {
    return {x.re * mpq_class(factor), x.im * mpq_class(factor)};
}

// Rows of few kinds, with signs and powers of two.
void repeat_rows(GaussianMatrix &a, Random &random) {
    const std::int64_t kinds = random.integer(1, 2);
    for (std::size_t i = at(kinds); i < a.size(); ++i) {
        const double factor = (random.chance(0.5) ? 1 : -1) * (random.chance(0.8) ? 1 : 0.25);
        a[i] = a[at(random.integer(0, kinds - 1))];
        for (Gaussian &x : a[i]) x = times(x, factor);
    }
}

// Half of the columns against the other half: much cancels, all if nothing is changed after.
void oppose_columns(GaussianMatrix &a, Random &random) {
    for (auto &row : a)
        for (std::size_t j = 1; j < row.size(); j += 2) {
            row[j] = times(row[j - 1], -1);
            if (random.chance(0.1)) row[j].re = mpq_class(rounded(row[j].re) * (1 + 0x1p-52));
        }
}

// The last entry, where perm is as near 0 as rounding it to doubles allows.
void solve_last(GaussianMatrix &a) {
    Gaussian &last = a.back().back();
    last = {};
    GaussianMatrix minor(a.begin(), a.end() - 1);
    for (auto &row : minor) row.pop_back();
    const Gaussian rest = oracle::by_subsets(a), factor = oracle::by_subsets(minor);
    if (libperm::is_zero(factor)) return;
    const Gaussian root = rest / factor;
    last = {mpq_class(-rounded(root.re)), mpq_class(-rounded(root.im))};
}

GaussianMatrix adversarial(Random &random) {
    const std::int64_t n = random.integer(1, 7);
    const bool complex = random.chance(0.4);
    const int kind = static_cast<int>(random.integer(0, 4));
    GaussianMatrix a(at(n), std::vector<Gaussian>(at(n)));
    for (auto &row : a)
        for (Gaussian &x : row) x = entry(random.chance(0.1) ? 3 : kind, complex, random);
    if (random.chance(0.4)) repeat_rows(a, random);
    if (random.chance(0.3)) oppose_columns(a, random);
    for (auto &row : a)
        for (Gaussian &x : row) x = {mpq_class(x.re.get_d()), mpq_class(x.im.get_d())}; // subnormal ones
    if (random.chance(0.5)) solve_last(a);
    if (random.chance(0.2)) std::reverse(a.begin(), a.end());
    return a;
}

// ---------------------------------------------------------------- checks

std::string text_of(const GaussianMatrix &a) {
    std::string text;
    for (const auto &row : a) {
        for (const Gaussian &x : row) {
            char entry[80];
            std::snprintf(entry, sizeof entry, "%a,%a  ", x.re.get_d(), x.im.get_d());
            text += entry;
        }
        text += "\n";
    }
    return text;
}

// Of the digits that the text has, half a unit of the last.
mpq_class text_error(const std::string &text) {
    const std::size_t end = std::min(text.find('e'), text.size());
    const auto digits = std::count_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end),
                                      [](char c) { return c >= '0' && c <= '9'; });
    mpz_class power;
    mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(digits - 1));
    return mpq_class(1, 2) / mpq_class(power);
}

void check_bounds(const Outcome &outcome, const Gaussian &truth) {
    const Gaussian value = outcome.wide ? *outcome.wide : Gaussian{exactly(outcome.value), 0};
    const mpq_class error = squared_distance(value, truth);
    const double bound = outcome.rel_error_bound;
    CHECK(outcome.exact == (bound == 0));
    CHECK(outcome.exact == (outcome.error.mantissa == 0));
    if (outcome.exact) CHECK(error == 0);
    if (std::isfinite(outcome.error.mantissa)) {
        const mpq_class most = exactly(outcome.error);
        CHECK(error <= most * most);
        const double above = libperm::to_double_up(outcome.error);
        if (std::isfinite(above)) CHECK(mpq_class(above) >= most);
    }
    const std::string text = libperm::answer_of(outcome).text;
    CAPTURE(text);
    if (outcome.exact && text.find('e') == text.npos) CHECK(number_of(text) == truth);
    if (!std::isfinite(bound)) return;
    CHECK(error <= mpq_class(bound) * mpq_class(bound) * squared(truth));
    if (outcome.exact || text == "0") return;
    const mpq_class of_text = (mpq_class(bound) + text_error(text) * mpq_class(1 + bound)) * mpq_class(1.01);
    CHECK(squared_distance(number_of(text), truth) <= of_text * of_text * squared(truth));
}

} // namespace

TEST_CASE("no bound is below the true error") {
    const std::uint64_t seed = run::seed(801);
    Random random(seed);
    int compared = 0, finite = 0, exact = 0, zeros = 0, refused = 0;
    for (int round = 0; round < 1000 * run::multiplier(); ++round) {
        GaussianMatrix a = adversarial(random);
        const bool written = random.chance(0.3); // as text: of no doubles
        if (written)
            for (Gaussian &x : a.front()) x = {x.re / 3, x.im / 7};
        const Gaussian truth = oracle::by_subsets(a);
        zeros += libperm::is_zero(truth);
        const Given g = given(a, written ? As::text : As::complex);
        for (const std::string engine : {"auto", "ryser", "frontier", "tree"})
            for (const std::string precision : {"auto", "double", "kahan", "dd", "exact", "mpfr:200"}) {
                if (precision == "mpfr:200" && engine != "auto" && engine != "ryser") continue;
                perm_opts opts = in_precision(engine.c_str(), precision.c_str());
                opts.threads = 1;
                const char *const without[] = {"", "all", "merge", "scaling"};
                opts.without = without[random.integer(0, 3)];
                opts.tolerance = random.chance(0.5) ? 1e-9 : 1e-40;
                INFO(engine, ", ", precision, ", without ", std::string(opts.without), ", round ", round,
                     ":\n", text_of(a));
                Outcome outcome;
                try {
                    outcome = outcome_of(g.csr, opts);
                } catch (const libperm::Error &error) {
                    // Overflow, where nothing was scaled.
                    CHECK(std::string(opts.without) == "scaling");
                    CHECK(error.status() == PERM_UNSUPPORTED);
                    CHECK(std::string(error.what()).find("leave the pass \"scaling\" on") !=
                          std::string::npos);
                    ++refused;
                    continue;
                }
                check_bounds(outcome, truth);
                if (precision == "exact") CHECK(outcome.exact);
                if (precision == "auto") CHECK(outcome.rel_error_bound <= opts.tolerance);
                ++compared;
                finite += std::isfinite(outcome.rel_error_bound);
                exact += outcome.exact;
            }
    }
    MESSAGE("seed ", seed, ": ", compared, " compared, of these ", finite, " with digits, ", exact,
            " exact; ", zeros, " permanents are 0; refused: ", refused);
    CHECK(compared > 1000);
    CHECK(finite > compared / 2);
    CHECK(exact < compared);
    CHECK(zeros > 0);
}
