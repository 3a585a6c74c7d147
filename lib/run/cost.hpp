// What a way to compute a block is expected to take, in seconds of one thread and in bytes. The constants of
// the engines (lib/frontier/cost.cpp, lib/subsets/propose.cpp, lib/ryser/plan.cpp) were measured on one
// machine (docs/benchmarks.md) and are part of the plan's definition: they never depend on the machine at
// hand, so that the same pattern gives the same plan everywhere. What a GPU takes follows from what its
// driver says of it.
#pragma once

#include "lib/number/precision.hpp"

#include <cstdint>

namespace libperm {

struct Cost {
    double subsets = 0;                 // of a sum over them
    double states = 0, peak_states = 0; // over all rows, and after the worst row
    std::int64_t bytes_per_state = 0;   // in a list or in a table
    double operations = 0;              // multiply-adds
    double bytes = 0;
    double bytes_of_matrix =
        0; // of these, of one matrix of residues; as many at the same time as there is room for
    double compile_seconds = 0; // of these: for a kernel that is not there yet
    double serial_seconds = 0;  // on one thread, or on the GPU
};

constexpr double call_seconds = 2e-5; // before and after any engine's work

double seconds_on(int threads, double serial_seconds);

// How many times what it takes in doubles.
struct Slowdown {
    double time = 1, memory = 1;
};

// How many times longer an engine takes in each arithmetic, of residues for one matrix; and of its primes the
// bits.
struct Pace {
    double complex, dd, complex_dd, residues;
    int prime_bits = 0;

    double of(Arithmetic a) const;
    // Matrices modulo primes that a permanent of so many bits takes, two for each prime of Gaussian integers.
    double matrices(const Numbers &numbers, double bits) const;
    // `bits`: of the permanent, if it is to be exact.
    Slowdown slowdown(const Numbers &numbers, double bits) const;
};

} // namespace libperm
