// What a way to compute a block is expected to take (lib/plan/cost_model.hpp).
#pragma once

namespace libperm {

struct Cost {
    double subsets = 0;                 // ryser, and on a GPU
    double states = 0, peak_states = 0; // frontier: over all rows, and after the worst row
    double operations = 0;              // multiply-adds
    double bytes = 0;
    double compile_seconds = 0; // of these: for a kernel that is not there yet
    double serial_seconds = 0;  // on one thread, or on the GPU
};

constexpr double call_seconds = 2e-5; // before and after any engine's work

} // namespace libperm
