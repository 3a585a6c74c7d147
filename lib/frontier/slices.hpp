// Past memory: the slices of a frontier program (preprocess/frontier_slices.hpp), run and summed.
#pragma once

#include "lib/base/archive.hpp"
#include "lib/frontier/forms.hpp"
#include "preprocess/frontier_slices.hpp"

#include <functional>
#include <vector>

namespace libperm {

// Those that compute slices at the same time, each with all of its own memory.
struct SliceWorkers {
    std::function<std::size_t()> count; // asked where there is something to do, before anything is run
    std::function<EngineResult(std::size_t worker, const FrontierProgram &)> run;
};

inline std::size_t one_worker() { return 1; }

// The permanent of the run's program, in slices or, if there are none, whole: a slice's result depends on
// nothing else, and the sum on their order alone. Each is a piece of the call's task.
EngineResult run_in_slices(const FrontierRun &run, const std::vector<FrontierSlice> &slices,
                           const SliceWorkers &workers);

// Of numbers in their order, in pairs, pairs of pairs and so on: the bound grows with the logarithm of their
// count.
Ball sum_of(const std::vector<Ball> &numbers);

// Slices of a frontier as they are written, in saved plans and in the names of what was computed in them.

template <class Archive> void serialize(Archive &ar, FixedLine &fixed) {
    ar(fixed.cut, fixed.line);
    flags(ar, fixed.before);
}

} // namespace libperm
