// Products of row sums with each factor left out in turn: by the products of those before it and of those
// behind it, so that nothing is divided by and a zero is a factor as any other.
#include "jit/lanes/eights-inl.hpp"
#include "jit/lanes/grid_columns.hpp"

#if defined(LIBPERM_JIT_LEFT_OUT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBPERM_JIT_LEFT_OUT_INL_HPP
#undef LIBPERM_JIT_LEFT_OUT_INL_HPP
#else
#define LIBPERM_JIT_LEFT_OUT_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

// Walks `vectors` eights at once.
template <bool complex, bool split, int vectors> class LeftOut {
  public:
    static constexpr int size = vectors * vectors_of_eight, lanes = vectors * eight_lanes;
    static constexpr int numbers = complex ? 2 : 1, parts = numbers * (split ? 2 : 1);
    using D = Wide<size>;
    using A = std::conditional_t<complex, Complex<Real<D>>, Real<D>>;
    using Number = typename A::Number;
    using Eights = std::conditional_t<complex, Complex<Real<Eight>>, Real<Eight>>;

    // Scratch is counted in doubles: a number for each row.
    static constexpr int number_doubles = numbers * lanes;
    static std::size_t space(int rows) { return static_cast<std::size_t>(2 * rows * number_doubles); }

    LeftOut(int rows, const int *row_count, double *space)
        : rows_(rows), row_count_(row_count), x_(space), before_(space + rows * number_doubles) {
        for (int i = 0; i < rows; ++i)
            if (row_count[i] > 1) repeated_ = i + 1;
    }

    // take(i, w * the product without one factor of row i); returns w times the whole product. row_sum(i).
    template <class RowSum, class Take>
    LANES_INLINE Number each(D w, const RowSum &row_sum, const Take &take) {
        Number product = A::number(w);
        for (int i = 0; i < repeated_; ++i)
            if (row_count_[i] > 1) product = A::multiply(product, power<A>(row_sum(i), row_count_[i] - 1));
        for (int i = 0; i < rows_ - 1; ++i) {
            const Number x = row_sum(i);
            put_number(x, x_ + i * number_doubles);
            put_number(product, before_ + i * number_doubles);
            product = A::multiply(product, x);
        }
        Number behind = row_sum(rows_ - 1);
        take(rows_ - 1, product);
        if (rows_ == 1) return A::multiply(product, behind);
        product = A::multiply(product, behind);
        for (int i = rows_ - 2; i > 0; --i) {
            take(i, A::multiply(get_number<Number>(before_ + i * number_doubles), behind));
            behind = A::multiply(get_number<Number>(x_ + i * number_doubles), behind);
        }
        take(0, A::multiply(get_number<Number>(before_), behind));
        return product;
    }

  private:
    const int rows_;
    int repeated_ = 0; // of the first rows some count more than once
    const int *const row_count_;
    double *const x_, *const before_;
};

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
