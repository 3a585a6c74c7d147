// How fast the permanents grow with the length: the operator's spectral radius.
#pragma once

#include "lib/periodic/periodic_plan.hpp"

namespace libperm {

// Of nonnegative cells: lower <= rho <= upper for certain, by the bounds of Collatz and Wielandt: for T >= 0
// and x > 0, min (T x)_i / x_i <= rho(T) <= max (T x)_i / x_i (Horn and Johnson, Matrix Analysis,
// Theorem 8.1.26).
struct Growth {
    double value = 0, lower = 0, upper = 0;
};

// Per cell. 0 where no long matrix has a permanent other than 0. Throws Error (PERM_UNSUPPORTED) where an
// entry is negative or not real.
Growth growth_of(const PeriodicPlan &plan, RunControl &control);

// With other entries, none negative, in place of the plan's; and whether these are of a size that doubles can
// take.
Growth growth_of(const PeriodicPlan &plan, const std::vector<Gaussian> &values, RunControl &control);
bool is_bracketed(const PeriodicPlan &plan, const std::vector<Gaussian> &values);

} // namespace libperm
