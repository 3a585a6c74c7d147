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

// The moves' entries, none of whose sizes is below its absolute value.
struct SquaredEntries {
    const std::vector<Gaussian> &values, &sizes;
    Arithmetic arithmetic; // of the values; sizes are in doubles
};

// a(m) of joined ends is the sum of the traces of its blocks' sectors.
std::vector<SquaredNumber> traces_by_squares(DenseMachine &machine, const PeriodicPlan &plan,
                                             const SquaredEntries &entries, std::int64_t m,
                                             RunControl &control);

// The states of open ends so many periods behind `x`.
std::vector<SquaredNumber> advanced_by_squares(DenseMachine &machine, const PeriodicPlan &plan,
                                               const SquaredEntries &entries,
                                               const std::vector<SquaredNumber> &x, std::int64_t periods,
                                               RunControl &control);

} // namespace libperm
