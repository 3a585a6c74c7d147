// The gamma Bernoulli approximation scheme (Huber, A Bernoulli mean estimate with known relative error
// distribution, Random Structures and Algorithms 50 (2017)): samples are drawn until k are successes, and R
// is the sum of so many exponential variables; then (k - 1) / R over the mean has the law of (k - 1) / G, G
// being gamma distributed with shape k, whatever the mean.
#pragma once

#include <cstdint>

namespace libperm {

// The probability that |(k - 1) / G - 1| > epsilon, to all digits however small.
double gamma_scheme_failure(std::int64_t k, double epsilon);

// A k with which that is delta at most: the least one, or, beyond a million or for a delta below 1e-200, the
// least that Chernoff's bound proves, at most twice as many. 2^62 where there is no less.
std::int64_t gamma_scheme_successes(double epsilon, double delta);

} // namespace libperm
