// A small matrix of integers, of doubles too where each row's are short multiples of a power of two.
#pragma once

#include "lib/glynn/small_matrix.hpp"

namespace libperm {

struct IntegerColumns {
    std::int64_t exp2 = 0; // the permanent is that of the columns times 2^exp2
    double bound = 0;      // of the columns' permanent, each part of it: n! times the rows' largest
    bool sums_fit = false; // of a row's entries with any signs, in 64 bits
    double product = 0;    // of the rows' sums of absolute values: no term is larger, nor what it is made of
    // NOLINTBEGIN(*-member-init): as many as the order takes are written
    SmallColumns<std::int64_t> re, im; // im: of complex matrices
    // NOLINTEND(*-member-init)
};

bool make_integer(const SmallMatrix &a, IntegerColumns &out); // false: some entries have too many bits

} // namespace libperm
