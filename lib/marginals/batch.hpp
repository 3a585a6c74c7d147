// The marginals of many matrices of one pattern.
#pragma once

#include "lib/marginals/marginals.hpp"

#include <functional>

namespace libperm {

// Matrix k's values begin k * stride values after the first's, its numbers at k * marginals.count(). On the
// threads of the arena that this runs in; what a matrix gets does not depend on the others. Throws Error,
// naming the matrix. tell(k, ...), by any thread: of the sums.
void marginals_of_batch(const Plan &plan, const TapePlan *direct, const LazyGradient &derivatives,
                        const Marginals &marginals, const void *values, std::int64_t stride,
                        std::int64_t count, double *to, double *bounds, RunControl &control,
                        const std::function<void(std::int64_t k, const TapeAnswer &, const Outcome &)> &tell);

} // namespace libperm
