#include "jit/kernel/leaf_registers.hpp"

#include "jit/number/index.hpp"

#include <algorithm>

namespace libperm {
namespace {

constexpr double registers = 116;           // of two words each, beside what the walk needs
constexpr double bytes_for_each = 1 / 38.0; // of a double beyond them during an instruction

// Where each value is taken last: the code's end for what the next turn needs.
std::vector<std::size_t> last_taken(const StraightLine &leaf, const RowSums &sums) {
    const std::size_t end = leaf.code.size();
    std::vector<std::size_t> last(at(leaf.inputs) + end);
    std::fill_n(last.begin(), leaf.inputs, end);
    for (const Restored &r : sums.restored) last[at(r.row)] = 0;
    const auto take = [&](std::int32_t v, std::size_t k) { last[at(v)] = std::max(last[at(v)], k); };
    for (std::size_t k = 0; k < end; ++k) {
        last[at(leaf.inputs) + k] = k;
        if (leaf.code[k].op == Op::add)
            take(sums.of[k].from, k);
        else
            for_operands(leaf.code[k], [&](std::int32_t v) { take(v, k); });
    }
    for (const std::int32_t v : leaf.outputs) take(v, end);
    for (const Restored &r : sums.restored) take(r.value, end);
    return last;
}

} // namespace

double spilled_bytes(const StraightLine &leaf, const RowSums &sums) {
    const std::vector<std::size_t> last = last_taken(leaf, sums);
    std::vector<double> change(leaf.code.size() + 2); // of what is alive
    for (std::size_t v = 0; v < last.size(); ++v) {
        const std::size_t first = v < at(leaf.inputs) ? 0 : v - at(leaf.inputs);
        // The least row sums are one word of a double.
        const double size = v >= at(leaf.inputs) && leaf.code[first].op == Op::least ? 0.5 : 1;
        change[first] += size;
        change[last[v] + 1] -= size;
    }
    double alive = 0, beyond = 0;
    for (const double c : change) beyond += std::max(0.0, (alive += c) - registers);
    return beyond * bytes_for_each;
}

} // namespace libperm
