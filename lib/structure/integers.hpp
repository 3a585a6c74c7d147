// A block's entries modulo one prime, enough to see that there is no structure, or which there may be; and
// small integers that a block is, but for a factor of each row and of each column.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/limits.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace libperm {

// One of 62 bits with a square root of -1, the same each time.
std::uint64_t probe_prime();

std::uint64_t probe_residue(const Tracked &x);
// None: its denominator is a multiple of the prime.
std::optional<std::uint64_t> probe_residue(const Gaussian &x);

// Of each of these rows all entries, 0 outside the pattern; as Montgomery has numbers but for a power of two,
// the same one of all, which products of equal degree do not see.
template <class Value>
std::vector<std::uint64_t> probe_rows(const BlockOf<Value> &block, std::span<const std::int32_t> rows);

// Small integers that a block is, but for a factor of each row and of each column.

constexpr std::int32_t most_integer_lines = 128;
constexpr int most_integer = 127;
constexpr std::int32_t most_lines_of_others = 8;

// By entry; none: it is of more lines, or not of this kind. Multiples of one number by up to most_integer,
// each line divided by what it has in common, or numbers of equal magnitudes after the lines are scaled; by
// exact comparisons. Or such multiples but for
// entries (no_integer) of a few rows or of a few columns. What is neither is given up at the first entries
// that say so.
template <class Value> std::vector<std::int8_t> find_integers(const BlockOf<Value> &block);

} // namespace libperm
