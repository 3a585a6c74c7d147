#include "lib/outcome.hpp"

#include <cmath>
#include <limits>

namespace libperm {
namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
// The bounds themselves are computed with a few roundings: a part in 2^40 covers them.
constexpr double slack = 1 + 0x1p-40;
} // namespace

void set_value(Outcome &outcome, double value, double error, std::int64_t exp2) {
    outcome.value = make_scaled(value, exp2);
    outcome.error = make_scaled(error, exp2);
    outcome.exact = error == 0;
    const double certain = std::abs(value) - error; // |perm| is at least this
    outcome.rel_error_bound = error == 0 ? 0 : certain > 0 ? error / certain * slack : infinity;
}

double gamma_bound(double roundings) {
    const double ku = roundings * 0x1p-53;
    return ku < 1 ? ku / (1 - ku) * slack : infinity;
}

} // namespace libperm
