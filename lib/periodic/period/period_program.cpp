#include "lib/periodic/period/period_program.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "preprocess/binomials.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libperm {
namespace {

struct Place {
    std::int32_t position = 0, shift = 0; // in the order of a step; see PeriodRow
};
using Order = std::vector<Place>; // by row

struct Moment {
    std::int32_t step, position;
    friend auto operator<=>(const Moment &, const Moment &) = default;
};

struct Window {
    Moment first{std::numeric_limits<std::int32_t>::max(), 0};
    Moment last{std::numeric_limits<std::int32_t>::min(), 0};
};

std::int32_t most_shift(const Order &order) {
    std::int32_t most = 0;
    for (const Place &place : order) most = std::max(most, place.shift);
    return most;
}

// When a column of cell 0 is met, by class. Columns that an end's rows meet are open when those are
// processed, and so are all that stand before the first row that there is.
std::vector<Window> windows_of(const PeriodicMatrix &a, const Order &order) {
    std::vector<Window> windows(at(a.rows));
    for (const PeriodicEntry &e : a.entries) {
        Window &w = windows[at(e.column)];
        const Place &place = order[at(e.row)];
        const Moment met{place.shift - e.cell, place.position};
        w.first = std::min(w.first, met);
        w.last = std::max(w.last, met);
    }
    const auto be_open = [&](std::int32_t column, std::int32_t before_step) { // of cell 0
        Window &w = windows[at(column)];
        w.first = std::min(w.first, Moment{before_step - 1, a.rows});
        w.last = std::max(w.last, Moment{before_step, -1});
    };
    for (Window &w : windows) {
        if (w.first > w.last) w = {{0, 0}, {0, 0}}; // in no row of a cell
        if (!a.joined) w.last = std::max(w.last, Moment{0, -1});
    }
    for (const PeriodicEntry &e : a.head.entries) be_open(e.column, -e.cell);
    for (std::int64_t k = 1; k <= a.head.columns; ++k) {
        const std::int64_t back = (k - 1) / a.rows + 1; // cell -back
        be_open(static_cast<std::int32_t>(back * a.rows - k), static_cast<std::int32_t>(back));
    }
    for (const PeriodicEntry &e : a.tail.entries) be_open(e.column, most_shift(order) - e.cell);
    return windows;
}

// Of a period, at each row, how many states there can be, times its entries.
class PeriodCost {
  public:
    explicit PeriodCost(const PeriodicMatrix &a) : a_(&a), degree_(at(a.rows), 0) {
        for (const PeriodicEntry &e : a.entries) ++degree_[at(e.row)];
    }

    double operator()(const Order &order) {
        const std::vector<Window> windows = windows_of(*a_, order);
        opens_.assign(at(a_->rows) + 2, 0);
        closes_.assign(at(a_->rows) + 2, 0);
        std::int64_t width = 0, used = a_->head.rows - a_->head.columns;
        for (const Window &w : windows) {
            width += w.last.step - w.first.step;
            used += w.last.step;
            ++opens_[at(w.first.position + 1)];
            ++closes_[at(w.last.position + 1)];
        }
        by_position_.assign(at(a_->rows), 0);
        for (std::int32_t i = 0; i < a_->rows; ++i) {
            used -= order[at(i)].shift;
            by_position_[at(order[at(i)].position)] = i;
        }
        double expansions = 0;
        width += opens_[0];
        width -= closes_[0];
        used -= closes_[0];
        for (std::int32_t p = 0; p < a_->rows; ++p) {
            width += opens_[at(p + 1)];
            expansions +=
                std::exp2(std::min(log2_of(width, used), 1000.0)) * degree_[at(by_position_[at(p)])];
            ++used;
            width -= closes_[at(p + 1)];
            used -= closes_[at(p + 1)];
        }
        return expansions;
    }

  private:
    double log2_of(std::int64_t width, std::int64_t used) const {
        if (a_->joined) return static_cast<double>(width);
        if (used < 0 || used > width) return 0; // no state at all
        const auto n = static_cast<double>(width), k = static_cast<double>(used);
        return (log_factorial(n) - log_factorial(k) - log_factorial(n - k)) / std::log(2.0);
    }

    const PeriodicMatrix *a_;
    std::vector<std::int32_t> degree_, opens_, closes_, by_position_;
};

void normalise(Order &order) {
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    for (const Place &p : order) least = std::min(least, p.shift);
    for (Place &p : order) p.shift -= least;
}

// Moves row i to another position.
void move_to(Order &order, std::size_t row, std::int32_t position) {
    const std::int32_t from = order[row].position;
    for (Place &p : order) {
        if (from < position && p.position > from && p.position <= position) --p.position;
        if (from > position && p.position < from && p.position >= position) ++p.position;
    }
    order[row].position = position;
}

struct Found {
    Order order;
    double cost;
};

// Improves the order that was given: single rows are moved and shifted as long as it becomes cheaper.
Found search(const PeriodicMatrix &a, bool shifts) {
    PeriodCost cost(a);
    Order order(at(a.rows));
    for (std::int32_t i = 0; i < a.rows; ++i) order[at(i)] = {i, 0};
    Found best{order, cost(order)};
    double left = 4e7; // entries that are looked at
    const double each = static_cast<double>(a.entries.size()) + 4.0 * a.rows;
    const auto try_it = [&](Order candidate) {
        poll();
        left -= each;
        normalise(candidate);
        const double found = cost(candidate);
        if (!(found < best.cost)) return false;
        best = {std::move(candidate), found};
        return true;
    };
    for (bool better = true; better && left > 0;) {
        better = false;
        for (std::size_t i = 0; i < order.size() && left > 0; ++i) {
            for (const int by : {-1, 1}) {
                if (!shifts) break;
                Order candidate = best.order;
                candidate[i].shift += by;
                better = try_it(std::move(candidate)) || better;
            }
            for (std::int32_t to = 0; to < a.rows && left > 0; ++to) {
                if (to == best.order[i].position) continue;
                Order candidate = best.order;
                move_to(candidate, i, to);
                better = try_it(std::move(candidate)) || better;
            }
        }
    }
    return best;
}

PeriodProgram program_of(const PeriodicMatrix &a, const Found &found) {
    PeriodProgram program;
    const std::vector<Window> windows = windows_of(a, found.order);
    program.rows.resize(at(a.rows));
    program.most_shift = most_shift(found.order);
    program.moves = found.cost;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        PeriodRow &row = program.rows[at(found.order[at(i)].position)];
        row.row = i;
        row.shift = found.order[at(i)].shift;
    }
    std::int64_t bits = 0; // before they are numbered in 32
    for (const Window &w : windows) bits += std::int64_t{w.last.step} - w.first.step + 1;
    if (bits > most_period_bits)
        throw Error(PERM_REFUSED_MEMORY,
                    formatted("while the rows of one cell are met {} columns come to be open: at most {} can "
                              "be; take smaller cells, or ask for a length as a plain matrix (perm_compute), "
                              "which may be cut into slices",
                              bits, most_period_bits));
    for (const Window &w : windows) {
        program.windows.push_back({w.first.step, w.last.step, program.bits});
        program.bits += program.windows.back().width();
    }
    for (std::size_t c = 0; c < windows.size(); ++c) {
        const auto behind = static_cast<std::size_t>(std::clamp(windows[c].last.position, 0, a.rows - 1));
        program.rows[behind].closes |= PeriodKey{1} << program.windows[c].slot;
    }
    for (std::size_t k = 0; k < a.entries.size(); ++k) {
        const PeriodicEntry &e = a.entries[k];
        PeriodRow &row = program.rows[at(found.order[at(e.row)].position)];
        const PeriodWindow &w = program.windows[at(e.column)];
        row.terms.push_back({w.slot_of(e.cell - row.shift, 0), static_cast<std::int32_t>(k)});
    }
    return program;
}

} // namespace

PeriodicMatrix transposed(const PeriodicMatrix &a) {
    PeriodicMatrix out = a;
    for (PeriodicEntry &e : out.entries) e = {e.column, e.row, -e.cell};
    return out;
}

PeriodProgram plan_period(const PeriodicMatrix &a, bool shifts) {
    const Found upright = search(a, shifts);
    if (a.head.is_there() || a.tail.is_there()) return program_of(a, upright);
    const PeriodicMatrix other = transposed(a);
    const Found across = search(other, shifts);
    if (!(across.cost < upright.cost)) return program_of(a, upright);
    PeriodProgram program = program_of(other, across);
    program.transposed = true;
    return program;
}

} // namespace libperm
