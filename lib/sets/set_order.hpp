// In which order a walk over sets of lines meets the lines of the other side: a line of the sets waits from
// the first that has an entry in it to the last, and a table has a number for each set of those that wait.
#pragma once

#include "preprocess/pattern.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

struct SetOrder {
    std::vector<std::int32_t> lines; // rows of the pattern
    double operations = 0;           // of one walk forwards, about
    std::int32_t widest = 0;         // lines that wait at once, those that the line met has among them
};

// The most lines that may wait at once: a table of 2^33 numbers.
constexpr std::int32_t most_waiting = 33;

// Rows are met, sets are of columns. The best of some greedy orders.
SetOrder greedy_set_order(const Pattern &rows);

// Betters it by moving single rows, for about a tenth of the time that the walk takes. Deterministic.
void better_set_order(const Pattern &rows, std::uint64_t seed, SetOrder &order);

} // namespace libperm
