// Which of a program's joins and steps a device does: those that are large, for each costs it some launches
// whatever its states. By what is predicted of the program alone, so the same wherever it runs.
#pragma once

#include "jit/number/state_numbers.hpp"
#include "lib/run/cost.hpp"
#include "preprocess/frontier_program.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

struct BranchPlace {
    bool join_on_device = false;
    std::int32_t first_on_device = 0; // of its steps, those from here on
};

struct BranchPlaces {
    std::vector<BranchPlace> of_branch;
    double on_cpu = 0,
           on_device = 0;     // seconds: of one thread; of an H100, with what is copied to it and back
    double device_states = 0; // there at once, at most
    bool uses_device() const { return on_device > 0; }
};

// `key_words`: of a state.
BranchPlaces place_branches(const FrontierProgram &program, int key_words, const StateNumbers &numbers);

} // namespace libperm
