#include "lib/frontier/dense_row.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <array>

namespace libperm {
namespace {

SlotSet bit_of(const FrontierTerm &t) { return SlotSet{1} << t.slot; }
bool is_low(const FrontierTerm &t) { return t.slot < low_slots; }

// The bit of a high slot in a set packed by these open slots; 0 if it is not one of them.
std::uint32_t packed_bit(SlotSet slot, SlotSet open) {
    if ((slot & open) == 0) return 0;
    return std::uint32_t{1} << std::popcount(open & ~low_mask & (slot - 1));
}

// Of one of the two tables: how many low sets there are of each size, and where the blocks of each begin.
struct TableShape {
    std::array<std::uint32_t, dense_low_slots + 1> sets{};
    std::array<std::uint64_t, dense_most_high + 1> begin{};

    TableShape(const LowSets &low, int high_slots, int weight) {
        for (std::size_t k = 0; k < low.of_weight.size(); ++k)
            sets[k] = static_cast<std::uint32_t>(low.of_weight[k].size());
        std::uint64_t end = 0;
        for (int high = 0; high <= high_slots; ++high) {
            begin[at(high)] = end;
            const int rest = weight - high;
            if (rest < 0 || rest > low_slots) continue;
            end += static_cast<std::uint64_t>(subsets_of_size(high_slots, high)) * sets[at(rest)];
        }
    }
};

} // namespace

RowShape shape_of(const FrontierStep &step) {
    const auto low = std::count_if(step.terms.begin(), step.terms.end(), is_low);
    return {static_cast<int>(low), static_cast<int>(step.terms.size()) - static_cast<int>(low)};
}

void DenseRowMaker::advance(const FrontierStep &step, int most_cube) {
    old_open_ = new_open_;
    std::swap(old_low_, new_low_);
    opening_ = closing_ = 0;
    for (const FrontierTerm &t : step.terms) {
        if (t.opens) opening_ |= bit_of(t);
        if (t.closes) closing_ |= bit_of(t);
    }
    new_open_ = (old_open_ | opening_) & ~closing_;
    if ((new_open_ & low_mask) == old_low_.open)
        new_low_ = old_low_;
    else
        new_low_.assign(new_open_ & low_mask);
    describe_tables(step);
    find_places(step);
    find_cubes(step, most_cube);
}

void DenseRowMaker::describe_tables(const FrontierStep &step) {
    row_ = {};
    const int old_high = std::popcount(old_open_ & ~low_mask);
    const int new_high = std::popcount(new_open_ & ~low_mask);
    const TableShape from(old_low_, old_high, step.used_before), to(new_low_, new_high, step.used_after);
    std::copy(from.sets.begin(), from.sets.end(), row_.from_sets);
    std::copy(to.sets.begin(), to.sets.end(), row_.to_sets);
    std::copy(from.begin.begin(), from.begin.end(), row_.from_begin);
    std::copy(to.begin.begin(), to.begin.end(), row_.to_begin);
    row_.from_low = std::popcount(old_low_.open);
    row_.to_low = std::popcount(new_low_.open);
    row_.low_terms = shape_of(step).low;
    row_.from_weight = step.used_before;
    row_.to_weight = step.used_after;
    for (std::size_t k = 0; k < new_low_.of_weight.size(); ++k) {
        row_.list_begin[k] = row_.list_size;
        row_.list_size += to.sets[k];
    }
    row_.list_begin[new_low_.of_weight.size()] = row_.list_size;
}

// For each low set of the new table, with the closing columns put back, the low source set that lacks the
// entry's column, or the same set for a high entry. A source holds no column that opens with this row.
void DenseRowMaker::find_places(const FrontierStep &step) {
    places_.clear();
    const auto list = [this](SlotSet bit) {
        bool moves = false;
        for (const std::vector<SlotSet> &sets : new_low_.of_weight)
            for (std::size_t r = 0; r < sets.size(); ++r) {
                const SlotSet full = sets[r] | (closing_ & low_mask), source = full ^ bit;
                const bool leads = (full & bit) == bit && (source & opening_) == 0;
                places_.push_back(leads ? old_low_.rank[source] : dense_no_place);
                moves = moves || places_.back() != r;
            }
        return moves;
    };
    row_.places_move = list(0);
    for (const FrontierTerm &t : step.terms)
        if (is_low(t)) list(bit_of(t));
}

// The row's own columns outside of a cube are the lowest bits of its number, so that cubes with common
// sources follow each other.
void DenseRowMaker::find_cubes(const FrontierStep &step, int most_cube) {
    DenseHighSet always; // closing columns
    std::vector<DenseHighSet> of_bit;
    SlotSet others = new_open_ & ~low_mask;
    std::uint32_t term = 1; // of the other high entries
    for (const FrontierTerm &t : step.terms) {
        if (is_low(t)) continue;
        const std::uint32_t to = packed_bit(bit_of(t), new_open_), from = packed_bit(bit_of(t), old_open_);
        others &= ~bit_of(t);
        if (row_.cube_terms < most_cube) {
            const int k = row_.cube_terms++;
            if (t.opens) row_.cube_opening |= std::uint32_t{1} << k;
            if (t.closes) row_.cube_closing |= std::uint32_t{1} << k;
            row_.cube_to[k] = to;
            row_.cube_from[k] = from;
            continue;
        }
        if (t.opens) row_.opening |= term;
        row_.from_bit[std::countr_zero(term)] = from;
        if (t.closes) {
            always.from |= from;
            always.present |= term;
        } else {
            of_bit.push_back({to, from, term, 0});
        }
        term <<= 1;
    }
    for (; others != 0; others &= others - 1) {
        const SlotSet slot = others & (~others + 1);
        of_bit.push_back({packed_bit(slot, new_open_), packed_bit(slot, old_open_), 0, 0});
    }
    row_.cube_bits = static_cast<int>(of_bit.size());
    constexpr std::size_t chunk = std::size_t{1} << dense_chunk_bits;
    const std::size_t lower = std::min<std::size_t>(of_bit.size(), dense_chunk_bits),
                      upper = of_bit.size() - lower;
    high_.resize(upper == 0 ? std::size_t{1} << lower : chunk + (std::size_t{1} << upper));
    const auto fill = [&](DenseHighSet *sets, const DenseHighSet &empty, std::size_t first_bit,
                          std::size_t bits) {
        sets[0] = empty;
        for (std::size_t set = 1; set >> bits == 0; ++set) {
            const DenseHighSet &rest = sets[set & (set - 1)],
                               &bit = of_bit[first_bit + static_cast<std::size_t>(std::countr_zero(set))];
            sets[set] = {rest.to | bit.to, rest.from | bit.from, rest.present | bit.present, 0};
        }
    };
    fill(high_.data(), always, 0, lower);
    if (upper > 0) fill(high_.data() + chunk, {}, lower, upper);
}

} // namespace libperm
