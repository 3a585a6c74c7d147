#include "jit/kernel/leaf.hpp"

#include "jit/number/index.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace libperm {
namespace {

// The instruction that last takes each value.
std::vector<std::int64_t> last_uses(const StraightLine &leaf) {
    std::vector<std::int64_t> last(at(leaf.inputs) + leaf.code.size(), -1);
    for (std::size_t k = 0; k < leaf.code.size(); ++k)
        for_operands(leaf.code[k], [&](std::int32_t v) { last[at(v)] = static_cast<std::int64_t>(k); });
    return last;
}

struct Made {
    std::int32_t value;
    const std::vector<std::int32_t> *columns;
};

void collect(const Tree &tree, const TreePart &part, std::vector<std::int32_t> &read) {
    for (const TreePart &p : part.parts) collect(tree, p, read);
    const std::vector<std::int32_t> own = constants_read(part.leaf, row_sums_of(tree, part.leaf));
    read.insert(read.end(), own.begin(), own.end());
}

void sort_apart(std::vector<std::int32_t> &numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

} // namespace

std::int64_t entry_of(const Tree &tree, std::int32_t row, std::int32_t column) {
    const auto begin = tree.row.begin() + tree.column_ptr[at(column)];
    const auto end = tree.row.begin() + tree.column_ptr[at(column) + 1];
    return std::lower_bound(begin, end, row) - tree.row.begin();
}

RowSums row_sums_of(const Tree &tree, const StraightLine &leaf) {
    const std::vector<std::int64_t> last = last_uses(leaf);
    const auto end = static_cast<std::int64_t>(leaf.code.size());
    const std::int64_t remembered = 3 * leaf.inputs; // instructions that a sum is kept for after its last use
    std::map<std::int32_t, std::vector<Made>> made;  // by row
    std::map<std::int32_t, std::int64_t> base_used;  // where each row's x is last read
    RowSums sums;
    sums.of.resize(leaf.code.size());
    static const std::vector<std::int32_t> no_columns;
    for (std::size_t k = 0; k < leaf.code.size(); ++k) {
        const Instruction &i = leaf.code[k];
        if (i.op != Op::add) {
            for_operands(i, [&](std::int32_t v) {
                if (v < leaf.inputs) base_used[v] = static_cast<std::int64_t>(k);
            });
            continue;
        }
        const TreeConstant &constant = tree.constants[at(i.b)];
        auto &of_row = made[constant.row];
        if (of_row.empty()) of_row.push_back({i.a, &no_columns}); // x itself
        RowSum best{i.a, -1, true};
        std::int64_t best_use = -1;
        for (const Made &m : of_row) {
            std::vector<std::int32_t> apart;
            std::set_symmetric_difference(m.columns->begin(), m.columns->end(), constant.columns.begin(),
                                          constant.columns.end(), std::back_inserter(apart));
            // x itself only if nothing else will do: it may have been given up.
            const std::int64_t use = m.value < leaf.inputs ? 0 : last[at(m.value)];
            if (apart.size() != 1 || use <= best_use) continue;
            if (m.value >= leaf.inputs && use + remembered < static_cast<std::int64_t>(k)) continue;
            best_use = use;
            best = {m.value, entry_of(tree, constant.row, apart.front()),
                    constant.columns.size() > m.columns->size()};
        }
        if (best.from < leaf.inputs) base_used[best.from] = static_cast<std::int64_t>(k);
        sums.of[k] = best;
        of_row.push_back({leaf.inputs + static_cast<std::int32_t>(k), &constant.columns});
    }
    for (const auto &[row, of_row] : made) {
        if (end - base_used[row] < end / 3) continue;
        const auto near = std::find_if(of_row.rbegin(), of_row.rend(),
                                       [](const Made &m) { return m.columns->size() == 1; });
        if (near != of_row.rend() && near->value >= leaf.inputs && last[at(near->value)] > end / 2)
            sums.restored.push_back({row, near->value, entry_of(tree, row, near->columns->front())});
    }
    return sums;
}

std::vector<std::int32_t> constants_read(const StraightLine &leaf, const RowSums &sums) {
    std::vector<std::int32_t> read;
    for (std::size_t k = 0; k < sums.of.size(); ++k)
        if (leaf.code[k].op == Op::add && sums.of[k].entry < 0) read.push_back(leaf.code[k].b);
    sort_apart(read);
    return read;
}

std::vector<std::int32_t> constants_read(const Tree &tree) {
    std::vector<std::int32_t> read;
    collect(tree, tree.root, read);
    sort_apart(read);
    return read;
}

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
