// What perm_result says of Glynn's sum.
#pragma once

#include "lib/glynn/dense_sum.hpp"
#include "lib/tape/tape_run.hpp"

#include <perm.h>

#include <cstddef>
#include <cstdint>

namespace libperm {

// Results' texts, for the caller to free: the same as to_text gives, sooner.
char *text_of(const TapeAnswer &answer);
char *text_of(const DenseSum &sum);

struct SmallAccount {
    std::int64_t n, nnz;
    int threads;
    double subsets, operations;
    std::size_t bytes;
    Engine engine = Engine::glynn;
};
SmallAccount account_of(const DenseSum &sum, int n, std::int64_t nnz, int threads);

// Fills in a cleared result, all but its text.
void fill(perm_result &result, const TapeAnswer &value, bool tolerance_met, const SmallAccount &account);

} // namespace libperm
