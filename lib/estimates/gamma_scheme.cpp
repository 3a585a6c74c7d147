#include "lib/estimates/gamma_scheme.hpp"

#include <boost/math/special_functions/gamma.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace libperm {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 62;

// u - log(1 + u)
double log_excess(double u) {
    return std::fabs(u) < 1e-4 ? u * u * (0.5 - u / 3 + u * u / 4 - u * u * u / 5) : u - std::log1p(u);
}

// At least the logarithm of gamma_scheme_failure: with x = k (1 + u) both tails are at most exp(-k (u - log(1
// + u))) (Chernoff), below for u < 0 and above for u > 0.
double log_failure_above(std::int64_t k, double epsilon) {
    const auto shape = static_cast<double>(k);
    const double above = (epsilon - 1 / shape) / (1 - epsilon),
                 below = -(epsilon + 1 / shape) / (1 + epsilon);
    if (k == 1 || !(above > 0)) return std::numbers::ln2;
    const double a = -shape * log_excess(above), b = -shape * log_excess(below);
    return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b))) + 1e-6; // more than the roundings
}

// The least k up to `high` that does; `high` if none before it.
template <class Does> std::int64_t least(std::int64_t high, const Does &does) {
    std::int64_t low = 1;
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (does(middle) ? high : low) = middle;
    }
    return high;
}

} // namespace

double gamma_scheme_failure(std::int64_t k, double epsilon) {
    const auto shape = static_cast<double>(k), mean = shape - 1;
    return boost::math::gamma_p(shape, mean / (1 + epsilon)) +
           boost::math::gamma_q(shape, mean / (1 - epsilon));
}

std::int64_t gamma_scheme_successes(double epsilon, double delta) {
    // Beyond, Chernoff's bound has to do; below the least of deltas there are no more digits.
    constexpr std::int64_t most_summed = 1000000;
    constexpr double least_summed = 1e-200;
    const double log = std::log(delta);
    const std::int64_t enough =
        least(most, [&](std::int64_t k) { return log_failure_above(k, epsilon) <= log; });
    if (enough > most_summed || delta < least_summed) return enough;
    constexpr double rounded = 1 + 1e-9; // what Boost's functions may lose is far less
    return least(enough, [&](std::int64_t k) { return gamma_scheme_failure(k, epsilon) * rounded <= delta; });
}

} // namespace libperm
