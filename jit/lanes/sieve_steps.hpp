// A step of the walk of engine `sieve` in vectors (jit/program/sieve.hpp): prefixes side by side.
#pragma once

#include "jit/program/sieve.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

constexpr std::uint32_t sieve_lanes = 16;     // that any vector has at most, and a walk's arrays to spare
constexpr std::uint32_t sieve_capacity = 512; // prefixes of a block
constexpr std::size_t sieve_stride = sieve_capacity + sieve_lanes;

// The prefixes after a step: word w of prefix k is words[w * sieve_stride + k], the codes behind the words.
struct SieveBlock {
    std::vector<std::uint32_t> words;
    std::uint32_t count = 0;
};

// Takes the last prefixes of a block through a step, as long as there are `least` or more and the next block
// has room. The same prefixes in the same order on every processor.
void sieve_step(const SieveProgram &program, const SieveProgram::Step &step, SieveBlock &from, SieveBlock &to,
                std::uint32_t least);

} // namespace libperm
