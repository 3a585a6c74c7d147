#include "lib/outcome.hpp"

#include "lib/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libperm {
namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
// The bounds themselves are computed with a few roundings: a part in 2^40 covers them.
constexpr double slack = 1 + 0x1p-40;
} // namespace

void set_value(Outcome &outcome, double value, double error, std::int64_t exp2) {
    set_value(outcome, {make_scaled(value, exp2), make_scaled(error, exp2)});
}

void set_value(Outcome &outcome, const Ball &ball) {
    outcome.value = ball.value;
    outcome.error = ball.error;
    if (std::isnan(outcome.error.mantissa)) outcome.error = make_scaled(infinity); // something overflowed
    outcome.exact = outcome.error.mantissa == 0;
    const auto apart = std::clamp<std::int64_t>(outcome.error.exp2 - ball.value.exp2, -1000, 1000);
    const double error = std::ldexp(outcome.error.mantissa, static_cast<int>(apart));
    const double certain = std::abs(ball.value.mantissa) - error; // |perm| is at least this
    outcome.rel_error_bound = outcome.exact ? 0 : certain > 0 ? error / certain * slack : infinity;
}

bool is_better(const Outcome &x, const Outcome &y) {
    if (x.rel_error_bound < y.rel_error_bound) return true;
    if (std::isfinite(x.rel_error_bound) || std::isfinite(y.rel_error_bound)) return false;
    if (!std::isfinite(x.error.mantissa) || x.error.mantissa == 0) return x.error.mantissa == 0;
    if (!std::isfinite(y.error.mantissa)) return true;
    return x.error.exp2 != y.error.exp2 ? x.error.exp2 < y.error.exp2 : x.error.mantissa < y.error.mantissa;
}

bool take_if_better(Outcome &outcome, const std::function<Outcome()> &work) {
    try {
        Outcome other = work();
        if (!is_better(other, outcome)) return false;
        outcome = std::move(other);
        return true;
    } catch (const Error &error) {
        if (!is_limit(error.status())) throw;
        return false;
    }
}

double gamma_bound(double roundings, double unit) {
    const double ku = roundings * unit;
    return ku < 1 ? ku / (1 - ku) * slack : infinity;
}

} // namespace libperm
