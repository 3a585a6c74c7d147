// The values of a matrix as a tape takes them when derivatives are wanted: entries that are 0 stay.
#pragma once

#include "jit/lanes/tape_walk.hpp"
#include "lib/input/matrix.hpp"
#include "preprocess/scaling.hpp"

#include <optional>
#include <vector>

namespace libperm {

// Of each entry of the pattern the place of its value among the caller's; -1 in rows of ones. Empty: its own.
std::vector<std::int64_t> caller_places(const InputPattern &input);

// Of one of the caller's values: an entry of the pattern that stands for all its copies, and their number.
// Equal rows can change places, so that the permanent has the same derivative by every copy. Of a symmetric
// matrix both halves' entries have those of their pair.
struct EntryCopies {
    std::int64_t entry = -1, count = 0;
};
// `places` as above. Throws Error (PERM_UNSUPPORTED) where an entry has copies of two kinds.
std::vector<EntryCopies> copies_of(const InputPattern &input, const std::vector<std::int64_t> &places);

// Numbers of the caller's values to where marginals have them: of entries, rows and columns.
void put_marginals(const InputPattern &given, const std::vector<double> &numbers, double *marginals);

// As they are read; derivatives go where the values came from, so that complex ones must come as pairs.
Values values_for_derivatives(const InputPattern &input, const void *values);

class GradientEntries {
  public:
    // `places` as above; the input must outlive this. Throws Error.
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

    // Entry (i, j), as it is now, is one as given times 2^scale_of(i, j).
    std::int64_t scale_of(std::int32_t i, std::int32_t j) const { return scaling_.of(pattern_, i, j); }

    // Every entry of row i, as it is now, is a multiple of 2^units()[i], one of a graph of what its lines
    // come to together; none: of no use, or not known.
    const std::vector<int> &units() const { return units_; }
    std::int64_t unit_of(std::int32_t i, std::int32_t j) const;

    static constexpr double least_narrow = 0x1p-400;

  private:
    struct Number {
        double re = 0, im = 0;
        std::int64_t exp2 = 0;
    };

    void read(const InputPattern &input, const std::vector<std::int64_t> &places, const void *values);
    void read_wide(const InputPattern &input, const void *values);
    void find_scaling();
    void scale();
    void find_units();
    std::optional<int> unit_of_line(std::int32_t i) const;

    const Pattern &pattern_;
    std::vector<Number> numbers_;
    bool complex_, rounded_ = false, narrow_ = true;
    PowerScaling scaling_;
    std::vector<int> units_;
};

} // namespace libperm
