#include "jit/kernel/leaf_registers.hpp"

#include "jit/number/index.hpp"

#include <algorithm>
#include <numeric>

namespace libperm {
namespace {

// The instruction that takes each value last: its own where none does, the code's end for outputs.
std::vector<std::size_t> last_taken(const StraightLine &leaf, const RowSums &sums) {
    std::vector<std::size_t> last(at(leaf.inputs) + leaf.code.size());
    for (std::size_t k = 0; k < leaf.code.size(); ++k) {
        last[at(leaf.inputs) + k] = k;
        if (leaf.code[k].op == Op::add)
            last[at(sums.of[k].from)] = k;
        else
            for_operands(leaf.code[k], [&](std::int32_t v) { last[at(v)] = k; });
    }
    for (const std::int32_t v : leaf.outputs) last[at(v)] = leaf.code.size();
    return last;
}

// In each instruction, of values that are alive until `last`: size(v) of each added up.
template <class Size>
std::vector<double> alive_in(const StraightLine &leaf, const std::vector<std::size_t> &last,
                             const Size &size) {
    std::vector<double> alive(leaf.code.size() + 2);
    for (std::size_t v = 0; v < last.size(); ++v) {
        alive[v < at(leaf.inputs) ? 0 : v - at(leaf.inputs)] += size(v);
        alive[last[v] + 1] -= size(v);
    }
    std::partial_sum(alive.begin(), alive.end(), alive.begin());
    return alive;
}

} // namespace

std::int64_t doubles_at_once(const StraightLine &leaf, const RowSums &sums, Arithmetic arithmetic) {
    const auto size = [&](std::size_t v) {
        if (v < at(leaf.inputs)) return 0;
        const Op op = leaf.code[v - at(leaf.inputs)].op;
        return op == Op::add ? row_parts_of(arithmetic) : is_absolute(op) ? 1 : parts_of(arithmetic);
    };
    return static_cast<std::int64_t>(std::ranges::max(alive_in(leaf, last_taken(leaf, sums), size)));
}

double spilled_bytes(const StraightLine &leaf, const RowSums &sums) {
    constexpr double registers = 116;           // of two words each, beside what the walk needs
    constexpr double bytes_for_each = 1 / 38.0; // of a double beyond them during an instruction
    // The next turn needs the row sums, and what those that are given up are made of again.
    std::vector<std::size_t> last = last_taken(leaf, sums);
    std::vector<std::size_t> of_rows(at(leaf.inputs), leaf.code.size());
    for (const Restored &r : sums.restored) {
        of_rows[at(r.row)] = last[at(r.row)];
        last[at(r.value)] = leaf.code.size();
    }
    std::ranges::copy(of_rows, last.begin());
    const auto size = [&](std::size_t v) { // the least row sums are one word of a double
        return v >= at(leaf.inputs) && leaf.code[v - at(leaf.inputs)].op == Op::least ? 0.5 : 1;
    };
    double beyond = 0;
    for (const double alive : alive_in(leaf, last, size)) beyond += std::max(0.0, alive - registers);
    return beyond * bytes_for_each;
}

} // namespace libperm
