#include "jit/kernel/leaf_order.hpp"

#include "jit/number/index.hpp"

#include <algorithm>
#include <numeric>

namespace libperm {
std::int64_t doubles_at_once(const StraightLine &leaf, const RowSums &sums, Arithmetic arithmetic) {
    std::vector<std::size_t> last(leaf.code.size());
    const auto use = [&](std::int32_t v, std::size_t k) {
        if (v >= leaf.inputs) last[at(v - leaf.inputs)] = k;
    };
    for (std::size_t k = 0; k < leaf.code.size(); ++k) {
        last[k] = k;
        if (leaf.code[k].op == Op::add)
            use(sums.of[k].from, k);
        else
            for_operands(leaf.code[k], [&](std::int32_t v) { use(v, k); });
    }
    for (const std::int32_t v : leaf.outputs) use(v, leaf.code.size());
    std::vector<std::int64_t> change(leaf.code.size() + 2); // of what is alive
    for (std::size_t k = 0; k < leaf.code.size(); ++k) {
        const Op op = leaf.code[k].op;
        const int size = op == Op::add     ? row_parts_of(arithmetic)
                         : is_absolute(op) ? 1
                                           : parts_of(arithmetic);
        change[k] += size;
        change[last[k] + 1] -= size;
    }
    std::int64_t alive = 0, most = 0;
    for (const std::int64_t c : change) most = std::max(most, alive += c);
    return most;
}

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
