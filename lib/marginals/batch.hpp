// The marginals of many matrices of one pattern.
#pragma once

#include "lib/marginals/marginals.hpp"

#include <functional>

namespace libperm {

// Matrix k's values begin k * stride values after the first's.
struct MarginalsBatch {
    const void *values;
    std::int64_t stride, count;
};

// Matrix k's numbers begin at k * marginals.count(). Runs on the threads of the arena that it is called in;
// what a matrix gets does not depend on the others. tell(k, sum) is called by any thread. Throws Error,
// naming the matrix.
void marginals_of_batch(const MarginalsPlan &of, const Marginals &marginals, const MarginalsBatch &batch,
                        MarginalNumbers to, RunControl &control,
                        const std::function<void(std::int64_t k, const MatchingSum &)> &tell);

} // namespace libperm
