// Past memory: the slices of a frontier program (preprocess/frontier_slices.hpp), run and summed.
#pragma once

#include "lib/outcome.hpp"
#include "preprocess/frontier_slices.hpp"

#include <functional>

namespace libperm {

// `run` computes the permanent of a program, here or elsewhere: a slice's outcome depends on nothing else,
// and the sum on their order alone. One after the other, so that each may take all the memory.
Outcome run_slices(const FrontierProgram &program, const std::vector<FrontierSlice> &slices,
                   const std::function<Outcome(const FrontierProgram &)> &run);

// Of numbers in their order, in pairs, pairs of pairs and so on: the bound grows with the logarithm of their
// count.
Ball sum_of(const std::vector<Ball> &numbers);

} // namespace libperm
