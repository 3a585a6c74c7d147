#include "lib/outcome.hpp"

#include <cmath>
#include <limits>

namespace libperm {
namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
// The bounds themselves are computed with a few roundings: a part in 2^40 covers them.
constexpr double slack = 1 + 0x1p-40;
} // namespace

double relative_bound(double value, double absolute_error) {
    if (absolute_error == 0) return 0;
    const double certain = std::abs(value) - absolute_error; // |perm| is at least this
    return certain > 0 ? absolute_error / certain * slack : infinity;
}

double gamma_bound(double roundings) {
    const double ku = roundings * 0x1p-53;
    return ku < 1 ? ku / (1 - ku) * slack : infinity;
}

} // namespace libperm
