// The frontier's steps for one period (docs/periodic.md): the rows of a cell, some of them perhaps of a cell
// or more behind, in an order that is the same for every step, so that a state is renamed by a shift at its
// end.
//
// A column is open from the first step that may meet it to the last. Of class c (its number in its cell) as
// many cells are open as the window of c is wide; each has a bit of the state, the lowest of them that of the
// cell whose column closes in this step. At the end of a step every bit moves one down.
#pragma once

#include "lib/periodic/cell/periodic_matrix.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

__extension__ using PeriodKey = unsigned __int128; // bit: the column is used, or is not there
constexpr std::int32_t most_period_bits = 128;

struct PeriodTerm {
    std::int32_t slot, entry;
};

struct PeriodRow {
    std::int32_t row = 0, shift = 0; // in step t: of cell t - shift
    std::vector<PeriodTerm> terms;
    PeriodKey closes = 0; // behind it
};

// Of the column of cell k: steps k + first to k + last.
struct PeriodWindow {
    std::int32_t first = 0, last = 0;
    std::int32_t slot = 0; // of the cell that closes

    std::int32_t width() const { return last - first + 1; }
    std::int32_t slot_of(std::int64_t cell, std::int64_t step) const { // where it is open
        return slot + static_cast<std::int32_t>(cell + last - step);
    }
    bool is_open(std::int64_t cell, std::int64_t step) const { // before the step
        return cell + first < step && cell + last >= step;
    }
};

struct PeriodProgram {
    bool transposed = false; // of A^T: the cell's rows are columns
    std::vector<PeriodRow> rows;
    std::vector<PeriodWindow> windows; // by class of columns
    std::int32_t bits = 0;
    std::int32_t most_shift = 0; // the least is 0
    double moves = 0;            // of one period, predicted

    std::int32_t open_columns() const { // at a cut
        return bits - static_cast<std::int32_t>(windows.size());
    }
};

// The best order found, of A or, without head and tail, of A^T. Throws Error (PERM_REFUSED_MEMORY) where
// states would need more than most_period_bits.
// `shifts`: whether rows of cells behind may be met.
PeriodProgram plan_period(const PeriodicMatrix &a, bool shifts = true);

// A^T has the same permanent; of a matrix without head and tail.
PeriodicMatrix transposed(const PeriodicMatrix &a);

} // namespace libperm
