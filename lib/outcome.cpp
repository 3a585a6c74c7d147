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
    outcome.rel_error_bound = to_double_up(relative_error(outcome));
}

Scaled relative_error(const Scaled &value, const Scaled &error) {
    if (error.mantissa == 0) return {};
    const std::int64_t apart = error.exp2 - value.exp2;
    const double in_units =
        std::ldexp(error.mantissa, static_cast<int>(std::clamp<std::int64_t>(apart, -1000, 1000)));
    // |perm| is at least this; a size may be 2^-50 too large.
    const double certain = std::abs(value.mantissa) * (1 - 0x1p-48) - in_units;
    if (!(certain > 0 && std::isfinite(certain))) return make_scaled(infinity);
    return make_scaled(error.mantissa / certain * slack, apart);
}

bool is_better(const Outcome &x, const Outcome &y) {
    if (x.rel_error_bound < y.rel_error_bound) return true;
    if (std::isfinite(x.rel_error_bound) || std::isfinite(y.rel_error_bound)) return false;
    if (!std::isfinite(x.error.mantissa) || x.error.mantissa == 0) return x.error.mantissa == 0;
    if (!std::isfinite(y.error.mantissa)) return true;
    return x.error.exp2 != y.error.exp2 ? x.error.exp2 < y.error.exp2 : x.error.mantissa < y.error.mantissa;
}

bool take_if_better(Outcome &outcome, const std::function<Outcome()> &work, bool goes_on) {
    Outcome other;
    if (!within_limits([&] { other = work(); }, goes_on) || !is_better(other, outcome)) return false;
    outcome = std::move(other);
    return true;
}

double gamma_bound(double roundings, double unit) {
    const double ku = roundings * unit;
    return ku < 1 ? ku / (1 - ku) * slack : infinity;
}

} // namespace libperm
