#include "lib/periodic/table/table_program.hpp"

#include "lib/number/combinations.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace libperm {
namespace {

std::int64_t floor_divided(std::int64_t x, std::int64_t by) { return (x - (x % by + by) % by) / by; }

// When a column of cell 0 is open: before row `opens` of all the rows since cell 0's first, up to row
// `closes`.
struct Life {
    std::int64_t opens = 0, closes = 0;
};

// A column is needed from the first row that meets it; they are opened in this order, one with each row.
std::vector<Life> lives_of(const PeriodicMatrix &a, const std::vector<std::int32_t> &position) {
    const std::int64_t rows = a.rows;
    std::vector<Life> lives(at(rows), {std::numeric_limits<std::int64_t>::max(), 0});
    for (const PeriodicEntry &e : a.entries) {
        const std::int64_t met = -e.cell * rows + position[at(e.row)];
        Life &life = lives[at(e.column)];
        life.opens = std::min(life.opens, met);
        life.closes = std::max(life.closes, met);
    }
    // At the cuts before and behind its own cell, where open ends may lie, it is open if it is met behind
    // them.
    if (!a.joined)
        for (Life &life : lives) life.opens = std::min(life.opens, rows - 1);
    std::vector<std::size_t> order(at(rows));
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto in_period = [&](std::size_t c) { return (lives[c].opens % rows + rows) % rows; };
    std::sort(order.begin(), order.end(), [&](std::size_t c, std::size_t d) {
        return std::tuple(in_period(c), c) < std::tuple(in_period(d), d);
    });
    std::int64_t earlier = 0;
    for (std::int64_t q = 0; q < rows; ++q) earlier = std::max(earlier, q - in_period(order[at(q)]));
    for (std::int64_t q = 0; q < rows; ++q) {
        Life &life = lives[order[at(q)]];
        life.opens = floor_divided(life.opens, rows) * rows + q - earlier;
        life.closes = std::max(life.closes, life.opens + 1);
    }
    return lives;
}

// Tells which column has which slot, row after row.
class Slots {
  public:
    struct Column {
        std::int32_t column;
        std::int64_t cell;
        std::int32_t slot;
        friend auto operator<=>(const Column &, const Column &) = default;
    };

    Slots(const PeriodicMatrix &a, const PeriodProgram &program, const std::vector<Life> &lives)
        : a_(&a), program_(&program), lives_(&lives) {}

    void meet_row(std::vector<TableStep> &steps) {
        const std::int64_t step = floor_divided(row_, a_->rows);
        const PeriodRow &row = program_->rows[at(row_ - step * a_->rows)];
        TableStep out;
        std::deque<std::int32_t> closing;
        for (const Column &c : columns_)
            if (closes(c)) closing.push_back(c.slot);
        if (!closing.empty()) {
            out.slot = closing.front();
            closing.pop_front();
        } else if (!empty_.empty()) {
            out.slot = empty_.front();
            empty_.pop_front();
        } else {
            out.slot = count_++;
        }
        const Column opening = opening_in(out.slot);
        for (std::size_t k = 0; k < a_->entries.size(); ++k) {
            const PeriodicEntry &e = a_->entries[k];
            if (e.row != row.row) continue;
            const auto entry = static_cast<std::int32_t>(k);
            if (e.column == opening.column && step + e.cell == opening.cell) {
                out.opened = entry;
                continue;
            }
            for (const Column &c : columns_) {
                if (c.column != e.column || c.cell != step + e.cell) continue;
                if (c.slot == out.slot)
                    out.kept = entry;
                else
                    out.terms.push_back({c.slot, entry});
            }
        }
        std::sort(out.terms.begin(), out.terms.end(),
                  [](const PeriodTerm &x, const PeriodTerm &y) { return x.slot < y.slot; });
        steps.push_back(std::move(out));
        for (const std::int32_t slot : closing) steps.push_back({slot, -1, -1, {}, true});
        empty_.insert(empty_.end(), closing.begin(), closing.end());
        std::erase_if(columns_, [&](const Column &c) { return closes(c); });
        columns_.push_back(opening);
        ++row_;
    }

    // At a cut, of the cell that is next.
    std::vector<Column> columns() const {
        std::vector<Column> columns = columns_;
        for (Column &c : columns) c.cell -= floor_divided(row_, a_->rows);
        std::sort(columns.begin(), columns.end());
        return columns;
    }
    const std::deque<std::int32_t> &empty() const { return empty_; }
    std::int32_t count() const { return count_; }

  private:
    bool closes(const Column &c) const { return (*lives_)[at(c.column)].closes + c.cell * a_->rows == row_; }
    Column opening_in(std::int32_t slot) const {
        for (std::int32_t c = 0; c < a_->rows; ++c) {
            const std::int64_t since = row_ - (*lives_)[at(c)].opens;
            if (since % a_->rows == 0) return {c, since / a_->rows, slot};
        }
        return {}; // one opens with each row
    }

    const PeriodicMatrix *a_;
    const PeriodProgram *program_;
    const std::vector<Life> *lives_;
    std::int64_t row_ = 0;
    std::int32_t count_ = 0;
    std::vector<Column> columns_;
    std::deque<std::int32_t> empty_;
};

std::uint64_t end_of(const Slots &slots) {
    std::uint64_t used = 0;
    for (const std::int32_t s : slots.empty()) used |= std::uint64_t{1} << s;
    for (const Slots::Column &c : slots.columns())
        if (c.cell < 0) used |= std::uint64_t{1} << c.slot;
    return used;
}

} // namespace

double TableProgram::states(std::int32_t of_used) const { return subsets_of_size(slots, of_used); }

std::optional<TableProgram> table_program(const PeriodicMatrix &a, const PeriodProgram &program) {
    constexpr std::int64_t most_steps = 4096;
    if (program.most_shift > 0 || a.head.is_there() || a.tail.is_there()) return {};
    std::vector<std::int32_t> position(at(a.rows));
    for (std::size_t p = 0; p < program.rows.size(); ++p)
        position[at(program.rows[p].row)] = static_cast<std::int32_t>(p);
    std::vector<bool> met(at(a.rows), false);
    for (const PeriodicEntry &e : a.entries) met[at(e.column)] = true;
    if (std::find(met.begin(), met.end(), false) != met.end()) return {};
    const std::vector<Life> lives = lives_of(a, position);
    std::int64_t longest = 0;
    for (const Life &life : lives) longest = std::max(longest, life.closes - life.opens);
    if (longest > most_steps) return {};
    Slots slots(a, program, lives);
    const auto meet_cells = [&](std::int64_t count, std::vector<TableStep> &steps) {
        for (std::int64_t k = 0; k < count * a.rows; ++k) slots.meet_row(steps);
    };
    std::vector<TableStep> before;
    meet_cells(2 * (longest / a.rows + 2), before);
    TableProgram out;
    const std::vector<Slots::Column> columns = slots.columns();
    const std::deque<std::int32_t> empty = slots.empty();
    for (out.periods = 0; out.periods == 0 || columns != slots.columns() || empty != slots.empty();
         ++out.periods) {
        if (std::ssize(out.steps) > most_steps || slots.count() > most_table_slots) return {};
        out.ends.push_back(end_of(slots));
        out.begin.push_back(out.steps.size());
        meet_cells(1, out.steps);
    }
    out.begin.push_back(out.steps.size());
    out.slots = slots.count();
    if (out.slots > most_table_slots) return {};
    out.used = std::popcount(out.ends.front());
    for (const TableStep &step : out.steps_of(0))
        if (!step.clears)
            out.moves += out.states(out.most_used(a.joined)) * static_cast<double>(step.terms.size() + 2) / 2;
    return out;
}

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
