// A block's entries modulo one prime: enough to see that there is no structure, or which there may be.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/poll.hpp"

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

} // namespace libperm
