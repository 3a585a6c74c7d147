// What a sum of terms in doubles answers, over signs or counts.
#pragma once

#include "jit/lanes/grid_columns.hpp"
#include "lib/tape/tape_run.hpp"

namespace libperm {

// How often a term of n row sums is rounded: where these are put together, and in their product.
double roundings_of_term(const GridColumns &columns, int n);

// Adds a piece's sum; what adding loses is kept.
void add(const TermSum &part, TermSum &sum);

double size_of(const TermSum &sum);

// The sum times 2^exp2, within its error times as much; exact if that is 0.
TapeAnswer answer_of(const TermSum &sum, double error, std::int64_t exp2);

} // namespace libperm
