#include "lib/periodic/table/table_layout.hpp"

#include "lib/number/combinations.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>

namespace libperm {
namespace {

std::uint32_t rank_of(const std::vector<std::uint32_t> &ranks, std::uint32_t set) {
    const std::uint32_t lower = set & ((1U << table_chunk) - 1), upper = set >> table_chunk;
    if (upper == 0) return ranks[lower];
    return ranks[lower] +
           ranks[(std::size_t{1} << table_chunk) + upper * (table_chunk + 1) + at(std::popcount(lower))];
}

} // namespace

TableLayout::TableLayout(std::int32_t slots, std::int32_t of_used)
    // Blocks enough for all who share the work, and none longer than a first-level cache.
    : low(std::min((slots + 1) / 2, table_low)), high(slots - low), used(of_used) {
    low_rank.resize(std::size_t{1} << low);
    for (std::uint32_t set = 0; set >> low == 0; ++set)
        low_rank[set] = static_cast<std::uint16_t>(sets[at(std::popcount(set))]++);
    ranks = combination_ranks(high);
    std::uint64_t end = 0;
    for (int size = 0; size <= table_high + 1; ++size) {
        begin[at(size)] = end;
        const int rest = used - size;
        if (size > high || rest < 0 || rest > low) continue;
        end += static_cast<std::uint64_t>(subsets_of_size(high, size)) * sets[at(rest)];
    }
}

bool TableLayout::has_block(std::uint32_t high_set) const {
    const int rest = used - std::popcount(high_set);
    return rest >= 0 && rest <= low;
}

std::uint64_t TableLayout::block(std::uint32_t high_set) const {
    const int size = std::popcount(high_set);
    return begin[at(size)] + std::uint64_t{rank_of(ranks, high_set)} * sets[at(used - size)];
}

std::uint64_t TableLayout::place(std::uint64_t set) const {
    const std::uint64_t low_set = set & ((std::uint64_t{1} << low) - 1);
    return block(static_cast<std::uint32_t>(set >> low)) + low_rank[low_set];
}

TableLists::TableLists(const TableLayout &layout, const TableStep &step) {
    const auto is_low = [&](std::int32_t slot) { return slot < layout.low; };
    const auto high_bit = [&](std::int32_t slot) { return std::uint32_t{1} << (slot - layout.low); };
    std::uint32_t pivot = 0; // if it is low
    if (is_low(step.slot))
        pivot = std::uint32_t{1} << step.slot;
    else
        pivot_high = high_bit(step.slot);
    pivot_low = pivot != 0;
    std::vector<std::uint32_t> low_bits, bits; // bits: of a block's number
    for (const PeriodTerm &t : step.terms)
        if (is_low(t.slot)) {
            low_bits.push_back(std::uint32_t{1} << t.slot);
            low_entries.push_back(t.entry);
        } else {
            high_bits.push_back(high_bit(t.slot));
            high_entries.push_back(t.entry);
        }
    bits = high_bits;
    for (int slot = 0; slot < layout.high; ++slot) {
        const std::uint32_t bit = std::uint32_t{1} << slot;
        if (bit != pivot_high && std::find(bits.begin(), bits.end(), bit) == bits.end()) bits.push_back(bit);
    }
    number_bits = static_cast<int>(bits.size());
    const auto spread = [&](std::size_t first, std::size_t count) {
        for (std::uint32_t set = 0; set >> count == 0; ++set) {
            std::uint32_t high = 0;
            for (std::uint32_t left = set; left != 0; left &= left - 1)
                high |= bits[first + at(std::countr_zero(left))];
            high_sets.push_back(high);
        }
    };
    const std::size_t lower = std::min<std::size_t>(bits.size(), table_chunk);
    spread(0, lower);
    if (bits.size() > lower) spread(lower, bits.size() - lower);

    std::vector<std::uint32_t> targets;
    for (int size = 0; size <= table_low; ++size) {
        list_begin[at(size)] = static_cast<std::uint32_t>(targets.size());
        for (std::uint32_t set = 0; set >> layout.low == 0; ++set)
            if (std::popcount(set) == size && (set & pivot) == 0) targets.push_back(set);
    }
    list_begin.back() = static_cast<std::uint32_t>(targets.size());
    for (const std::uint32_t set : targets) places.push_back(layout.low_rank[set]);
    for (const std::uint32_t set : targets) places.push_back(layout.low_rank[set | pivot]);
    for (const std::uint32_t bit : low_bits)
        for (const std::uint32_t set : targets)
            places.push_back(set & bit ? layout.low_rank[(set ^ bit) | pivot] : table_no_place);
}

} // namespace libperm
