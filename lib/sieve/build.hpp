// The walk's program, of rows, their factors and an order, and how many prefixes it meets.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "jit/program/sieve.hpp"
#include "lib/sieve/rows.hpp"
#include "preprocess/limits.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace libperm {

// What is walked: sides, factors and columns in their order.
struct SieveWay {
    SieveRows rows;
    bool is_halved = false;
    std::vector<std::int32_t> order; // of the columns
    std::vector<std::int32_t> steps; // columns that a step takes at once
};

constexpr std::int32_t most_columns_at_once = 4;

// None: products have too many different primes to be told by codes of 64 bits.
std::optional<SieveProgram> sieve_program(const SieveWay &way);

// Prefixes after each column, by samples that are followed side by side: of the prefixes so far some hundreds
// are kept at random, and all that they become are counted (stochastic enumeration: Rubinstein, Ridder,
// Vaisman, Fast Sequential Monte Carlo Methods for Counting, 2014; Knuth's estimate with many probes that
// share their steps). The seed is fixed.
struct SieveProfile {
    std::vector<double> prefixes; // after so many columns, 0 to n
    double spread = 0;            // of their sum, relative: the standard error; 0: they were all counted
};
SieveProfile sieve_profile(const SieveProgram &one_by_one, double seconds);

// What a walk takes, in seconds: a prefix before a step, and each of its words; along a branch the same, and
// each row that finishes; a product that is counted.
struct SievePace {
    double prefix, word, branch, branch_word, finish, leaf, far_leaf; // far: with codes in a table

    double of_step(std::size_t branches, double words, double words_left, double finishes) const {
        return prefix + word * words +
               static_cast<double>(branches) * (branch + branch_word * words_left + finish * finishes);
    }
};
constexpr SievePace sieve_pace_of_thread{0, 0, 3.1e-10, 8e-11, 8e-11, 1e-9, 3.5e-9};
SievePace sieve_pace(const GpuProperties &gpu);

// Seconds for the walk of a program.
struct SieveCost {
    double seconds = 0, prefixes = 0, peak = 0; // peak: after the step that leaves the most
};
SieveCost sieve_cost(const SieveProgram &program, const SieveWay &way, const SieveProfile &profile,
                     const SievePace &pace);

// The columns of each step that take the least time.
std::vector<std::int32_t> best_steps(const SieveProgram &one_by_one, const SieveProfile &profile,
                                     const SievePace &pace);

} // namespace libperm
