// A matrix that repeats: cells of as many rows as columns, each row coupled to columns of the cells around
// its own, and what may stand before the first cell and behind the last (docs/periodic.md).
#pragma once

#include "lib/input/matrix.hpp"
#include "preprocess/gaussian.hpp"
#include "preprocess/memory_account.hpp"
#include "preprocess/poll.hpp"

#include <perm.h>

#include <cstdint>
#include <vector>

namespace libperm {

// Column `column` of a cell: of the one that stands so many cells further than the row's; of an end's row, of
// the cell with this number, counted from the first cell or, at the tail, from the one behind the last.
struct PeriodicEntry {
    std::int32_t row, column, cell;
    friend bool operator==(const PeriodicEntry &, const PeriodicEntry &) = default;
};

// Rows that stand before or behind all cells. Of the cells beyond the end, whose rows do not exist, as many
// columns exist as are said here: those next to it.
struct PeriodicEnd {
    std::int32_t rows = 0;
    std::int64_t columns = 0;
    std::vector<PeriodicEntry> entries;
    std::vector<Gaussian> values;

    bool is_there() const { return rows > 0 || columns > 0; }
    friend bool operator==(const PeriodicEnd &, const PeriodicEnd &) = default;
};

struct PeriodicMatrix {
    std::int32_t rows = 0; // of a cell, and its columns
    std::int32_t reach = 0;
    std::vector<PeriodicEntry> entries; // of a cell, none of them 0
    std::vector<Gaussian> values;
    PeriodicEnd head, tail;
    bool joined = false;

    bool is_nonnegative() const;
    bool is_real() const;
    bool has_integers() const;
    friend bool operator==(const PeriodicMatrix &, const PeriodicMatrix &) = default;
};

// Equal values have equal numbers.
std::vector<std::uint32_t> kinds_of(const std::vector<Gaussian> &values);

// With what it takes of the call's memory. Throws Error (PERM_BAD_ARGUMENT, PERM_BAD_MATRIX,
// PERM_UNSUPPORTED) and what the account does.
PeriodicMatrix read_periodic(const perm_periodic *given, MemoryAccount *account, Charge &charge);

} // namespace libperm
