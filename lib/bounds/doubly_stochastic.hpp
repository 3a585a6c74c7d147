// Doubly stochastic matrices without a rounding: the certificates of lower bounds.
#pragma once

#include "preprocess/pattern.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

// Entries in units of 2^-50, so that each, and what it lacks to 1, is a double; every row and column adds up
// to 2^50.
class DoublyStochastic {
  public:
    static constexpr std::int64_t one = std::int64_t{1} << 50;

    // Near b, which is nearly one, and 0 where b is: rounded, and what lines then lack is moved along a
    // spanning forest of the largest entries, from its leaves on. None where that would make an entry
    // negative.
    static std::optional<DoublyStochastic> near(const Pattern &a, const std::vector<double> &b);

    // A permutation.
    static DoublyStochastic of_matching(const Pattern &a, const std::vector<std::int32_t> &col_of_row);

    double operator[](std::size_t entry) const { return static_cast<double>(units_[entry]) * 0x1p-50; }

  private:
    std::vector<std::int64_t> units_;
};

} // namespace libperm
