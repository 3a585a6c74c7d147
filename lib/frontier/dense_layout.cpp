#include "lib/frontier/dense_layout.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

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

namespace {

// A kernel's products, which its compile time goes by: 100 take some 0.4 s.
double products_of(const CubeKernel &kernel) {
    return std::ldexp(kernel.low + kernel.others + 0.5 * kernel.cube, kernel.cube);
}
constexpr double most_products = 200;

constexpr std::size_t most_kernels = 4; // for large rows
constexpr int small_cube = 2;

CubeKernel kernel_for(const FrontierStep &step, int most_cube) {
    const RowShape row = shape_of(step);
    int cube = std::min(row.high, most_cube);
    while (cube > small_cube && products_of({row.low, cube, row.high - cube}) > most_products) --cube;
    return {row.low, cube, row.high - cube};
}

int high_entries(const CubeKernel &kernel) { return kernel.cube + kernel.others; }

// For the rows of both: a larger cube leaves fewer others.
CubeKernel joined(const CubeKernel &x, const CubeKernel &y) {
    const int cube = std::max(x.cube, y.cube);
    return {std::max(x.low, y.low), cube, std::max(high_entries(x), high_entries(y)) - cube};
}

// What a sum takes longer in a kernel that is made for more entries than its row's own: a part of its time.
double waste(const CubeKernel &own, const CubeKernel &kernel) {
    constexpr double entry = 0.05, cubed = 0.15;
    const int others = std::max(0, high_entries(own) - kernel.cube);
    return entry * (kernel.low - own.low + kernel.others - others) + cubed * (kernel.cube - own.cube);
}

// Rows that are run with one kernel: their states, by what would be their own.
struct Rows {
    CubeKernel kernel;
    std::map<CubeKernel, double> states;
    double wasted = 0;
};

Rows joined(const Rows &x, const Rows &y) {
    Rows both{joined(x.kernel, y.kernel), x.states};
    for (const auto &[own, states] : y.states) both.states[own] += states;
    for (const auto &[own, states] : both.states) both.wasted += states * waste(own, both.kernel);
    return both;
}

// Joins those that lose the least by it, where one can be compiled soon.
void join_down_to(std::size_t most, std::vector<Rows> &rows) {
    while (rows.size() > most) {
        std::pair<std::size_t, std::size_t> best;
        std::pair<bool, double> least{true, std::numeric_limits<double>::infinity()};
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t k = i + 1; k < rows.size(); ++k) {
                const Rows both = joined(rows[i], rows[k]);
                const std::pair<bool, double> loss{products_of(both.kernel) > most_products,
                                                   both.wasted - rows[i].wasted - rows[k].wasted};
                if (loss < least) least = loss, best = {i, k};
            }
        rows[best.first] = joined(rows[best.first], rows[best.second]);
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(best.second));
    }
}

// The kernels that large rows would have for themselves, with their states.
std::map<CubeKernel, double> kernels_of_large(const FrontierProgram &program, int most_cube, double large) {
    std::map<CubeKernel, double> states;
    for (const FrontierStep &step : program.steps)
        if (dense_states(step) >= large) states[kernel_for(step, most_cube)] += dense_states(step);
    return states;
}

} // namespace

std::vector<CubeKernel> cube_kernels(const FrontierProgram &program, const StateNumbers &numbers,
                                     double large) {
    const int cube = most_cube(numbers);
    std::vector<Rows> rows;
    for (const auto &[own, states] : kernels_of_large(program, cube, large))
        rows.push_back({own, {{own, states}}});
    join_down_to(most_kernels, rows);
    std::map<CubeKernel, CubeKernel> kernel_of;
    for (const Rows &r : rows)
        for (const auto &[own, states] : r.states) kernel_of[own] = r.kernel;

    CubeKernel small;
    for (const FrontierStep &step : program.steps)
        if (dense_states(step) < large) small = joined(small, kernel_for(step, small_cube));
    std::vector<CubeKernel> kernels;
    for (const FrontierStep &step : program.steps)
        kernels.push_back(dense_states(step) >= large ? kernel_of.at(kernel_for(step, cube)) : small);
    return kernels;
}

std::size_t count_cube_kernels(const FrontierProgram &program, const StateNumbers &numbers) {
    return std::min(most_kernels, kernels_of_large(program, most_cube(numbers), large_row).size()) + 1;
}

} // namespace libperm
