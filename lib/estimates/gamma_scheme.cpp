#include "lib/estimates/gamma_scheme.hpp"

#include "preprocess/log_factorial.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace libperm {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 62;

// A Poisson process has k or more events by time x with the probability of `at_least`, fewer with that of
// `fewer`. Each tail is summed where it is the smaller one, so that it keeps its digits.
double count_of_events(std::int64_t k, double x) { // just k
    const auto shape = static_cast<double>(k);
    return std::exp(shape * std::log(x) - x - log_factorial(shape));
}

double sum_of_fewer(std::int64_t k, double x) { // k - 1, k - 2, ... events, x > k
    double term = count_of_events(k, x), sum = 0;
    for (std::int64_t j = k; j >= 1 && term > 1e-17 * sum; --j) {
        term *= static_cast<double>(j) / x;
        sum += term;
    }
    return sum;
}

double sum_of_more(std::int64_t k, double x) { // k, k + 1, ... events, x <= k
    double term = count_of_events(k, x), sum = 0;
    for (std::int64_t j = k + 1; term > 1e-17 * sum; ++j) {
        sum += term;
        term *= x / static_cast<double>(j);
    }
    return sum;
}

bool is_late(std::int64_t k, double x) { return x > static_cast<double>(k); }

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

double gamma_distribution(std::int64_t k, double x) {
    if (!(x > 0)) return 0;
    return is_late(k, x) ? 1 - sum_of_fewer(k, x) : sum_of_more(k, x);
}

double gamma_complement(std::int64_t k, double x) {
    if (!(x > 0)) return 1;
    return is_late(k, x) ? sum_of_fewer(k, x) : 1 - sum_of_more(k, x);
}

double gamma_scheme_failure(std::int64_t k, double epsilon) {
    const auto mean = static_cast<double>(k - 1);
    return gamma_distribution(k, mean / (1 + epsilon)) + gamma_complement(k, mean / (1 - epsilon));
}

std::int64_t gamma_scheme_successes(double epsilon, double delta) {
    // The sums have about k^(1/2) terms, and below the least of deltas digits no more.
    constexpr std::int64_t most_summed = 1000000;
    constexpr double least_summed = 1e-200;
    const double log = std::log(delta);
    const std::int64_t enough =
        least(most, [&](std::int64_t k) { return log_failure_above(k, epsilon) <= log; });
    if (enough > most_summed || delta < least_summed) return enough;
    return least(enough, [&](std::int64_t k) { return gamma_scheme_failure(k, epsilon) <= delta; });
}

} // namespace libperm
