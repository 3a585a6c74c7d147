#include "jit/kernel/leaf_order.hpp"

#include "jit/kernel/leaf_registers.hpp"

#include <algorithm>

namespace libperm {

StraightLine least_alive(const Tree &tree, const StraightLine &leaf, Arithmetic arithmetic) {
    StraightLine other = by_depth(leaf);
    const RowSums sums = row_sums_of(tree, leaf), other_sums = row_sums_of(tree, other);
    const std::vector<std::int32_t> read = constants_read(leaf, sums),
                                    other_read = constants_read(other, other_sums);
    // The constants among a kernel's parameters are those of the program's own order.
    const bool may = std::includes(read.begin(), read.end(), other_read.begin(), other_read.end());
    return may && doubles_at_once(other, other_sums, arithmetic) < doubles_at_once(leaf, sums, arithmetic)
               ? other
               : leaf;
}

} // namespace libperm
