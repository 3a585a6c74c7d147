// The values of a matrix as a tape takes them when derivatives are wanted: entries that are 0 stay.
#pragma once

#include "jit/lanes/tape_walk.hpp"
#include "lib/input/matrix.hpp"
#include "preprocess/scaling.hpp"

#include <vector>

namespace libperm {

// Of each entry of the pattern the place of its value among the caller's; -1 in rows of ones. Empty: its own.
std::vector<std::int64_t> caller_places(const InputPattern &input);

// As they are read; derivatives go where the values came from, so that complex ones must come as pairs.
Values values_for_derivatives(const InputPattern &input, const void *values, const Poll &poll = no_poll);

class GradientEntries {
  public:
    // `places` as above. Throws Error.
    GradientEntries(const InputPattern &input, const std::vector<std::int64_t> &places, const void *values);

    // A block each, entry k at numbers[k] if there are any; then one that is 1.
    std::vector<double> blocks(TapeLayout layout, const std::vector<std::int64_t> &numbers) const;

    Arithmetic arithmetic() const { return complex_ ? Arithmetic::complex : Arithmetic::real; }

    // None is negative, and none so small that a product with a number like it could lose bits.
    bool narrow() const { return narrow_; }

    // Some were no doubles, or have become subnormal.
    bool are_rounded() const { return rounded_; }

    // By which powers of two the rows and columns were multiplied.
    const PowerScaling &scaling() const { return scaling_; }

    // Every entry of row i, as it is now, is a multiple of 2^units()[i]; none: of no use, or not known.
    const std::vector<int> &units() const { return units_; }

    static constexpr double least_narrow = 0x1p-400;

  private:
    struct Number {
        double re = 0, im = 0;
        std::int64_t exp2 = 0;
    };

    void read(const InputPattern &input, const std::vector<std::int64_t> &places, const void *values);
    void read_wide(const InputPattern &input, const void *values);
    void find_scaling(const Pattern &pattern);
    void scale(const Pattern &pattern);
    void find_units(const Pattern &pattern);

    std::vector<Number> numbers_;
    bool complex_, rounded_ = false, narrow_ = true;
    PowerScaling scaling_;
    std::vector<int> units_;
};

} // namespace libperm
