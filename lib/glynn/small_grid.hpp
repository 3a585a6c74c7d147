// A small matrix of doubles on two grids, so that sums of a row's entries with signs are exact.
#pragma once

#include "jit/lanes/grid_columns.hpp"
#include "lib/glynn/small_matrix.hpp"

namespace libperm {

// Rows are multiplied by powers of two; see docs/accuracy.md, "Sums over signs".
struct SmallGrid {
    std::int64_t exp2 = 0; // the permanent is that of the columns times 2^exp2
    bool is_split = false; // an entry has bits on the second grid
    double moved = 0;      // that the permanent can have been changed by, of entries with bits below it
    // NOLINTBEGIN(*-member-init): as many as the order takes are written
    alignas(64) SmallColumns<double> re, re_low, im, im_low;
    // NOLINTEND(*-member-init)

    GridColumns of(const SmallMatrix &a) const; // for as long as this stays where it is
};

// False if an entry is not finite, a row zero, or its exponent far from a double's middle.
bool put_on_grid(const SmallMatrix &a, SmallGrid &out);

// How often each row counts: 0 of rows of zeros that are not to count, and all of them together, as many as
// columns with theirs.
struct RowCounts {
    std::array<int, most_small_order> of{};
    int total = 0;
};
bool put_on_grid(const SmallMatrix &a, const RowCounts &counts, SmallGrid &out);

} // namespace libperm
