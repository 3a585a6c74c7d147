// A planar matrix's values as its inverse takes them, exactly.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/planar/ball_field.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/tracked.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

class PlanarValues {
  public:
    // Of some of the read entries, real ones all. All outlive it.
    PlanarValues(const Pattern &pattern, const std::vector<std::int64_t> &entries, const Values &read);

    BallField::Number number(std::size_t k, const BallField &field) const;
    mpq_class exactly(std::size_t k) const;
    Tracked magnitude(std::size_t k) const; // 0: the entry is

    bool are_nonnegative() const { return are_nonnegative_; }
    // None is 0, and all are of sizes that any pairs do for.
    bool are_alike() const { return are_alike_; }

    // As many pairs as there can be of entries that are not 0; where that is all lines, large entries where
    // others are small.
    Matching matching() const;

    // Row i's entries are multiples of 2^units()[i]; none: not of any.
    const std::vector<std::int64_t> &units() const { return units_; }

  private:
    bool find_units();

    const Pattern &pattern_;
    const std::vector<std::int64_t> &entries_;
    const Values &read_;
    bool are_nonnegative_, are_alike_;
    std::vector<std::int64_t> units_;
};

} // namespace libperm
