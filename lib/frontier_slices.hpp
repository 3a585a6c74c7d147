// Past memory: the slices of a frontier program (preprocess/frontier_slices.hpp), run and summed.
#pragma once

#include "lib/outcome.hpp"
#include "lib/residues.hpp"
#include "preprocess/frontier_slices.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace libperm {

// `run` computes the permanent of a program, here or elsewhere: a slice's outcome depends on nothing else,
// and the sum on their order alone. One after the other, so that each may take all the memory.
Outcome run_slices(const FrontierProgram &program, const std::vector<FrontierSlice> &slices,
                   const std::function<Outcome(const FrontierProgram &)> &run);

// The same of residues: permanents modulo each prime. `counts` are of the run, or of all of them.
using ResidueSliceRun =
    std::function<std::vector<std::uint64_t>(const FrontierProgram &program, Outcome &counts)>;
std::vector<std::uint64_t> run_residue_slices(const Residues &residues, const FrontierProgram &program,
                                              const std::vector<FrontierSlice> &slices,
                                              const ResidueSliceRun &run, Outcome &counts);

// What computing `one` took, one after the other.
void add_counts(Outcome &sum, const Outcome &one);

// Of numbers in their order, in pairs, pairs of pairs and so on: the bound grows with the logarithm of their
// count.
Ball sum_of(const std::vector<Ball> &numbers);

} // namespace libperm
