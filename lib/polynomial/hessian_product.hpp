// The Hessian of the permanent times a direction V: the coefficient of x in the gradient at A + x V. By
// Cauchy's formula at the eighth roots of unity w^j times r,
//
//     H V = 1/(8 r) sum_j w^-j grad(A + r w^j V) - sum_{m > 0} c_(1 + 8 m) r^(8 m),
//
// where the gradient G of |A| + R |V| bounds the coefficients, |c_k| <= G / R^k.
#pragma once

#include "lib/execute/plan_gradient.hpp"

namespace libperm {

class HessianProduct {
  public:
    // Of the plan's pattern. Throws Error.
    HessianProduct(const Plan &plan);

    // As many numbers as the gradient has; pairs where the plan's are complex. error_bounds may be null. Both
    // are written last. Throws Error.
    void run(const Plan &plan, const void *values, const void *direction, double *product,
             double *error_bounds) const;

  private:
    Plan complex_; // of the same pattern
    PlanGradient gradient_;
};

} // namespace libperm
