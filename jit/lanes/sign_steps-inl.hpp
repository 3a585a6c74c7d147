// The steps of a sum over signs (sign_sum.hpp): column 0 keeps its sign; the signs of the next columns are
// the lanes', those of the others change from step to step along a Gray code.
#include "jit/lanes/eights-inl.hpp"
#include "jit/lanes/grid_columns.hpp"

#include <algorithm>
#include <bit>

#if defined(LIBPERM_JIT_SIGN_STEPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBPERM_JIT_SIGN_STEPS_INL_HPP
#undef LIBPERM_JIT_SIGN_STEPS_INL_HPP
#else
#define LIBPERM_JIT_SIGN_STEPS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

// `vectors` eights at once.
template <bool complex, bool split, int vectors> class SignSteps {
  public:
    static constexpr int size = vectors * vectors_of_eight, lanes = vectors * eight_lanes;
    static constexpr int low_columns = 3 + (vectors > 2 ? 2 : vectors > 1 ? 1 : 0);
    static constexpr int parts = (complex ? 2 : 1) * (split ? 2 : 1);
    using D = Wide<size>;
    using A = std::conditional_t<complex, Complex<Real<D>>, Real<D>>;

    // In `table` rows * parts * lanes doubles, in `base` parts * a.stride.
    LANES_INLINE SignSteps(const GridColumns &a, int rows, int columns, double *table, double *base)
        : columns_(columns), stride_(a.stride), table_(table), base_(base) {
        a.list(part_);
        for (int part = 0; part < parts; ++part)
            for (int i = 0; i < rows; ++i) tabulate(part, i);
    }

    // Bit k of `gray`: column low_columns + 1 + k is taken off.
    LANES_INLINE void begin(std::uint64_t gray) {
        for (int part = 0; part < parts; ++part) {
            std::copy_n(part_[part], stride_, base_ + part * stride_);
            for (int j = low_columns + 1; j < columns_; ++j)
                add_column(part, j, gray >> (j - low_columns - 1) & 1 ? -1 : 1);
        }
    }
    LANES_INLINE void change(std::uint64_t step) {
        const int bit = std::countr_zero(step);
        const double twice = (step ^ step >> 1) >> bit & 1 ? -2 : 2;
        for (int part = 0; part < parts; ++part) add_column(part, low_columns + 1 + bit, twice);
    }

    LANES_INLINE typename A::Number row_sum(int i) {
        if constexpr (complex)
            return {sum_of_grids(0, i), sum_of_grids(parts / 2, i)};
        else
            return sum_of_grids(0, i);
    }

  private:
    double *table(int part, int i) { return table_ + (i * parts + part) * lanes; }
    double entry(int part, int i, int j) const { return part_[part][j * stride_ + i]; }

    // What columns 1 .. low_columns add to the row's sum: column j is taken off where bit j - 1 is set.
    LANES_INLINE void tabulate(int part, int i) {
        HWY_ALIGN static constexpr double sign[3][eight_lanes] = {
            {1, -1, 1, -1, 1, -1, 1, -1}, {1, 1, -1, -1, 1, 1, -1, -1}, {1, 1, 1, 1, -1, -1, -1, -1}};
        double *const to = table(part, i);
        Eight eight = Eight(entry(part, i, 1)) * load<vectors_of_eight>(sign[0]);
        for (int j = 1; j < 3; ++j)
            eight = fma(Eight(entry(part, i, j + 1)), load<vectors_of_eight>(sign[j]), eight);
        if constexpr (vectors == 1) {
            store(eight, to);
        } else if constexpr (vectors == 2) {
            const Eight a(entry(part, i, 4));
            store(eight + a, to);
            store(eight - a, to + eight_lanes);
        } else {
            const Eight a(entry(part, i, 4)), b(entry(part, i, 5));
            store((eight + a) + b, to);
            store((eight - a) + b, to + eight_lanes);
            store((eight + a) - b, to + 2 * eight_lanes);
            store((eight - a) - b, to + 3 * eight_lanes);
        }
    }

    LANES_INLINE void add_column(int part, int j, double times) {
        const double *const column = part_[part] + j * stride_;
        double *const base = base_ + part * stride_;
        for (int i = 0; i < stride_; ++i) base[i] += times * column[i];
    }

    LANES_INLINE D sum_of_part(int part, int i) {
        return D(base_[part * stride_ + i]) + load<size>(table(part, i));
    }
    LANES_INLINE D sum_of_grids(int part, int i) {
        if constexpr (split)
            return sum_of_part(part, i) + sum_of_part(part + 1, i);
        else
            return sum_of_part(part, i);
    }

    const int columns_, stride_;
    const double *part_[parts];
    double *const table_, *const base_; // what the low columns add, and the others
};

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
