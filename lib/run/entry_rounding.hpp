// How much of a permanent the rounding of its entries can have changed, before it was computed.
#pragma once

#include "lib/input/input_pattern.hpp"

#include <perm.h>

namespace libperm {

// n 2^-53 perm(|A|) / |perm(A)|, n factors in a product, or an upper bound of it: what changing each entry by
// half a unit in its last place changes the permanent by at most, relatively and to first order. Entries of
// at most 26 bits, such as 0.5 and integers, count as exact: where all are, and for integers, text and
// patterns, it is 0. `a` has been checked; `result` has its numbers.
double entry_rounding(const perm_csr &given, const perm_result &result);

// The same of a hafnian: n or, without loops, n/2 factors, and haf(|A|) by lib/preprocess' bound.
double graph_entry_rounding(const perm_csr &given, MatrixFunction function, const perm_result &result);

} // namespace libperm
