// Past memory: the slices of a frontier program (preprocess/frontier_slices.hpp), run and summed.
#pragma once

#include "lib/number/residues.hpp"
#include "lib/run/outcome.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/frontier_slices.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace libperm {

// Those that compute slices at the same time, each with all of its own memory.
template <class Part> struct SliceWorkers {
    std::function<std::size_t()> count; // asked where there is something to do, before anything is run
    std::function<Part(std::size_t worker, const FrontierProgram &)> run;
};

inline std::size_t one_worker() { return 1; }

// The permanent of a program, in slices or, if there are none, whole: a slice's outcome depends on nothing
// else, and the sum on their order alone. Each is a piece of the control's task.
Outcome run_in_slices(const FrontierProgram &program, const std::vector<FrontierSlice> &slices,
                      const SliceWorkers<Outcome> &workers, RunControl &control);

// The same of residues: permanents modulo each prime, and what it took, which is added to `counts`.
struct ResidueSlice {
    std::vector<std::uint64_t> permanents;
    Outcome counts;
};
std::vector<std::uint64_t> run_in_slices(const Residues &residues, const FrontierProgram &program,
                                         const std::vector<FrontierSlice> &slices,
                                         const SliceWorkers<ResidueSlice> &workers, RunControl &control,
                                         Outcome &counts);

// What computing `one` took, one after the other.
void add_counts(Outcome &sum, const Outcome &one);

// Of numbers in their order, in pairs, pairs of pairs and so on: the bound grows with the logarithm of their
// count.
Ball sum_of(const std::vector<Ball> &numbers);

} // namespace libperm
