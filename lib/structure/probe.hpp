// A block's entries modulo one prime, as they are asked for: enough to see that there is no structure, or
// which there may be.
#pragma once

#include "lib/number/montgomery.hpp"
#include "preprocess/block.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace libperm {

// One of 62 bits with a square root of -1, the same each time.
std::uint64_t probe_prime();

std::uint64_t probe_residue(const Tracked &x);
// None: its denominator is a multiple of the prime.
std::optional<std::uint64_t> probe_residue(const Gaussian &x);

// All numbers are residues times one and the same power of two, which products of equal degree do not see.
template <class Value> class Probe {
  public:
    explicit Probe(const BlockOf<Value> &block) : block_(block), field_(probe_prime()) {}

    std::int32_t n() const { return block_.n(); }
    const Montgomery &field() const { return field_; }
    std::uint64_t times(std::uint64_t x, std::uint64_t y) const { return field_.multiply(x, y); }

    std::uint64_t entry(std::int32_t i, std::int32_t j) const;
    // By column; entries outside the pattern are 0.
    void row(std::int32_t i, std::span<std::uint64_t> to) const;

  private:
    const BlockOf<Value> &block_;
    Montgomery field_;
};

} // namespace libperm
