#include "lib/estimates/gamma_scheme.hpp"

#include <cmath>

namespace libperm {

// Of less than k events of a Poisson process at time x, the complement: the larger of both tails is not
// summed.
double gamma_distribution(std::int64_t k, double x) {
    if (!(x > 0)) return 0;
    const auto shape = static_cast<double>(k);
    const double at_k = std::exp(shape * std::log(x) - x - std::lgamma(shape + 1)); // k events
    double sum = 0;
    if (x > shape) { // k - 1, k - 2, ... events
        double term = at_k;
        for (std::int64_t j = k; j >= 1; --j) {
            term *= static_cast<double>(j) / x;
            sum += term;
            if (term < 1e-17 * sum) break;
        }
        return 1 - sum;
    }
    double term = at_k; // k, k + 1, ...
    for (std::int64_t j = k + 1; term > 1e-17 * sum; ++j) {
        sum += term;
        term *= x / static_cast<double>(j);
    }
    return sum;
}

double gamma_scheme_failure(std::int64_t k, double epsilon) {
    const auto mean = static_cast<double>(k - 1);
    return gamma_distribution(k, mean / (1 + epsilon)) + 1 - gamma_distribution(k, mean / (1 - epsilon));
}

std::int64_t gamma_scheme_successes(double epsilon, double delta) {
    std::int64_t low = 1, high = 2;
    while (gamma_scheme_failure(high, epsilon) > delta) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (gamma_scheme_failure(middle, epsilon) > delta ? low : high) = middle;
    }
    return high;
}

} // namespace libperm
