// The moves between states, row by row: a sparse operator as the factors that its rows are.
#pragma once

#include "jit/program/tape.hpp"
#include "preprocess/gaussian.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

// The states behind a row: each is the sum over its moves of an entry times a state before the row.
struct PeriodLevel {
    std::vector<std::uint32_t> first{0}; // of each state's moves, and their number
    std::vector<TapeMove> moves;
    bool ones = false; // all of their entries are 1

    std::size_t states() const { return first.size() - 1; }
};
using PeriodLevels = std::vector<PeriodLevel>;

double moves_of(const PeriodLevels &levels);

// Marks the levels that have entries of 1 alone.
void mark_ones(PeriodLevels &levels, const std::vector<Gaussian> &values);

} // namespace libperm
