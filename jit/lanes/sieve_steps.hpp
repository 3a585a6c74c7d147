// A step of the walk of engine `sieve` in vectors (jit/program/sieve.hpp): prefixes side by side.
#pragma once

#include "jit/program/sieve.hpp"

#include <array>
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

// A step as lanes take it.
struct SieveLanes {
    struct Finish {
        std::uint32_t word, shift, mask, vanishes;
        std::array<std::vector<std::uint32_t>, most_sieve_codes> codes; // by count, 2 sieve_lanes at least
    };
    std::uint32_t words, codes;                   // of a prefix
    std::uint32_t first_word;                     // of those that later steps read
    std::vector<std::vector<std::uint32_t>> adds; // by branch, by word
    std::vector<std::uint32_t> signs;             // by branch
    std::vector<Finish> finishes;
};

SieveLanes sieve_lanes_of(const SieveProgram &program, std::size_t step);

// Takes the last prefixes of a block through a step, as long as there are `least` or more and the next block
// has room. The same prefixes in the same order on every processor.
void sieve_step(const SieveLanes &step, SieveBlock &from, SieveBlock &to, std::uint32_t least);

} // namespace libperm
