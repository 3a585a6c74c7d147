// A graph's numbers as sums over signs take them: all pairs of lines, scaled, in an arithmetic's parts.
#pragma once

#include "jit/lanes/hafnian_sum.hpp"
#include "lib/bjorklund/plan.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/engine_input.hpp"
#include "preprocess/block.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

struct LineNumbers {
    Arithmetic arithmetic;
    std::int32_t pairs;
    bool has_loops;
    std::vector<double> entries, errors; // as HafnianLines has them
    double prime = 0;
    std::vector<std::int64_t> scale = {}; // of each line, which it has been multiplied by, as a power of two
    std::int64_t exp2 = 0;                // the hafnian is theirs times 2^exp2

    HafnianLines view() const { return {arithmetic, pairs, has_loops, entries.data(), errors.data(), prime}; }
    std::int32_t lines() const { return 2 * pairs + (has_loops ? 1 : 0); }
    // Of lines i < j; j = 2 pairs: of the loop at i.
    std::size_t place(std::int32_t i, std::int32_t j) const;
};

// The plan has a matching.
LineNumbers numbers_of_lines(const BjorklundPlan &plan, const Block &block);
// In real numbers where all entries are.
LineNumbers numbers_of_lines(const BjorklundPlan &plan, const ExactBlock &block, Arithmetic arithmetic);
LineNumbers numbers_of_lines(const BjorklundPlan &plan, const DoublesGraph &graph, bool dd);
LineNumbers numbers_of_lines(const BjorklundPlan &plan, const Residues &residues, std::size_t matrix);

} // namespace libperm
