// Terms far out in doubles, or twice as many: the operator as full matrices, squared again and again.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/power/dense_machine.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// parts * 2^exp2, beside it the sum of the terms' absolute values, which covers what doubles have lost.
struct SquaredNumber {
    DenseNumber parts{};
    double absolute = 0;
    std::int64_t exp2 = 0;
    double times = 1; // that it counts
};

// Of joined ends: a(m), as the traces of its blocks' sectors. `sizes`: the entries' absolute values, or more.
std::vector<SquaredNumber> traces_by_squares(DenseMachine &machine, const PeriodicPlan &plan,
                                             const std::vector<Gaussian> &values,
                                             const std::vector<Gaussian> &sizes, std::int64_t m,
                                             Arithmetic arithmetic, RunControl &control);

// Of open ends: the states so many periods behind `x`.
std::vector<SquaredNumber> advanced_by_squares(DenseMachine &machine, const PeriodicPlan &plan,
                                               const std::vector<Gaussian> &values,
                                               const std::vector<Gaussian> &sizes,
                                               const std::vector<SquaredNumber> &x, std::int64_t periods,
                                               Arithmetic arithmetic, RunControl &control);

} // namespace libperm
