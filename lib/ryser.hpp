// Engine `ryser`: the Nijenhuis-Wilf form of Ryser's formula over a sparse matrix, in Gray-code order, with
// columns sorted by degree and zero row sums tracked (CPU-SparsePerman: Elbek and Kaya, Algorithm 1 and
// §VI-B). Where lines repeat it can sum over counts of equal columns instead (lib/ryser_counted.hpp).
#pragma once

#include "jit/arithmetic.hpp"
#include "lib/memory_budget.hpp"
#include "lib/outcome.hpp"
#include "lib/residues.hpp"
#include "lib/run_control.hpp"
#include "preprocess/block.hpp"
#include "preprocess/repeated_lines.hpp"

namespace libperm {

// Equal lines: the lowest of them, and how many there are.
struct EqualLines {
    std::int32_t line = 0, count = 1;
};

struct RyserPlan {
    bool transposed = false;
    double terms = 1;              // of the sum; infinity is possible
    double updates_per_subset = 0; // row sums that change from one term to the next, on average
    // Over subsets, each column for itself. By ascending degree: the first change most often, the last is
    // left out.
    std::vector<std::int32_t> columns;
    // Over counts instead, if there are any: the columns of the sum, in the same order, and one left out.
    std::vector<EqualLines> row_kinds, column_kinds;
    std::int32_t last_column = 0;

    bool counted() const { return !row_kinds.empty(); }
};

constexpr double ryser_most_subsets = 0x1p62; // they are counted in 64 bits; plans of more cannot be run

RyserPlan plan_ryser(const Pattern &a, const Pattern &at, const Kinds &kinds = {});
// What plan_ryser chooses from; the second when lines repeat.
RyserPlan plan_ryser_by_subsets(const Pattern &a, const Pattern &at, bool transposed);
RyserPlan plan_ryser_by_counts(const Pattern &a, const Pattern &at, const Kinds &kinds, bool transposed);

// `block` is A or A^T as the plan has it; its magnitudes have a perfect matching, and lines that the plan
// takes for equal have equal values. Progress is counted in terms.
Outcome run_ryser(const RyserPlan &plan, const Block &block, RunControl &control);

// In complex, dd or complex_dd; of a dd block all entries are real.
Outcome run_ryser(const RyserPlan &plan, const ExactBlock &block, Arithmetic arithmetic, RunControl &control);

// In MPFR numbers of so many bits, real ones if all entries are: `wide` is the value with all of them.
Outcome run_ryser_mpfr(const RyserPlan &plan, const ExactBlock &block, int bits, RunControl &control);

// Modulo each prime, odd ones below 2^62: 0 .. prime - 1. Terms of all matrices count as progress.
std::vector<std::uint64_t> run_ryser(const RyserPlan &plan, const Residues &residues, RunControl &control);

} // namespace libperm
