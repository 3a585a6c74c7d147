#include "lib/glynn/small_matrix.hpp"

#include "lib/number/doubles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace libperm {
namespace {

bool is_plain(const perm_csr &a) {
    return a.struct_size == sizeof(perm_csr) && a.n_rows == a.n_cols && a.n_rows >= 1 &&
           a.n_rows <= most_small_order && a.nnz >= 0 && a.nnz <= a.n_rows * a.n_rows && a.row_ptr &&
           a.col_idx && (a.index_type == PERM_INDEX_I64 || a.index_type == PERM_INDEX_I32) &&
           !a.row_multiplicity && !a.col_multiplicity && !a.row_unmatched && !a.col_unmatched &&
           (a.value_type == PERM_VALUE_PATTERN) == !a.values;
}

template <class Number> void set_up(const SmallMatrix &of, SmallColumns<Number> &columns, bool with_ones) {
    std::fill_n(columns.begin(), of.size(), Number(0));
    for (int i = of.given; with_ones && i < of.order; ++i) columns[of.at(i, i)] = 1;
}

// The caller's values, by their numbers.
class IntegerValues {
  public:
    IntegerValues(const void *values, SmallMatrix &out)
        : values_(static_cast<const std::int64_t *>(values)), out_(out) {
        out.is_integer = true;
        set_up(out, out.integers, true);
    }
    void put(std::size_t k, std::size_t at) {
        const std::int64_t x = values_ ? values_[k] : 1;
        out_.integers[at] = x;
        out_.nnz += x != 0;
    }

  private:
    const std::int64_t *values_; // null: ones
    SmallMatrix &out_;
};

template <bool complex> class DoubleValues {
  public:
    DoubleValues(const void *values, SmallMatrix &out)
        : values_(static_cast<const double *>(values)), out_(out) {
        set_up(out, out.re, true);
        if (complex) set_up(out, out.im, false);
    }
    void put(std::size_t k, std::size_t at) {
        const double re = values_[complex ? 2 * k : k], im = complex ? values_[2 * k + 1] : 0;
        out_.re[at] = re;
        if (complex) out_.im[at] = im;
        out_.nnz += re != 0 || im != 0;
        out_.is_complex |= im != 0;
    }

  private:
    const double *values_;
    SmallMatrix &out_;
};

template <class Read> bool with_values(const void *values, int type, SmallMatrix &out, const Read &read) {
    switch (type) {
    case PERM_VALUE_F64:
        return read(DoubleValues<false>(values, out));
    case PERM_VALUE_C128:
        return read(DoubleValues<true>(values, out));
    case PERM_VALUE_I64:
    case PERM_VALUE_PATTERN:
        return read(IntegerValues(values, out));
    default:
        return false;
    }
}

void set_order(std::int64_t n, SmallMatrix &out) {
    out.given = static_cast<int>(n);
    out.order = std::max(out.given, least_sign_order);
    out.stride = (out.order + 3) / 4 * 4;
}

template <class Index> bool lists_all(const perm_csr &a) {
    const auto *row_ptr = static_cast<const Index *>(a.row_ptr);
    const auto *col = static_cast<const Index *>(a.col_idx);
    const auto n = static_cast<Index>(a.n_rows);
    Index differs = row_ptr[n] ^ (n * n);
    for (Index i = 0; i < n; ++i) {
        differs |= row_ptr[i] ^ (i * n);
        for (Index j = 0; j < n; ++j) differs |= col[i * n + j] ^ j;
    }
    return differs == 0;
}

// Whether the values stand row by row, those of zeros too.
bool lists_all(const perm_csr &a) {
    if (a.nnz != a.n_rows * a.n_rows) return false;
    return a.index_type == PERM_INDEX_I64 ? lists_all<std::int64_t>(a) : lists_all<std::int32_t>(a);
}

template <class Values> bool put_all(Values &values, const SmallMatrix &out) {
    std::size_t k = 0;
    for (int i = 0; i < out.given; ++i)
        for (int j = 0; j < out.given; ++j) values.put(k++, out.at(i, j));
    return true;
}

// Lines by their entries, line(l, k) being entry k of line l.
template <class Line> bool some_proportional(int n, const Line &line) {
    constexpr double near = 0x1p-46; // more than the roundings of two products
    using Entry = std::complex<double>;
    const auto size = [](Entry x) { return std::fabs(x.real()) + std::fabs(x.imag()); };
    for (int a = 1; a < n; ++a)
        for (int b = 0; b < a; ++b) {
            int p = 0; // where line a is not 0
            while (p + 1 < n && size(line(a, p)) == 0) ++p;
            const Entry ap = line(a, p), bp = line(b, p);
            bool is_near = true;
            for (int k = 0; k < n && is_near; ++k) {
                const Entry ak = line(a, k), bk = line(b, k);
                const double re = (ap.real() * bk.real() - ap.imag() * bk.imag()) -
                                  (bp.real() * ak.real() - bp.imag() * ak.imag());
                const double im = (ap.real() * bk.imag() + ap.imag() * bk.real()) -
                                  (bp.real() * ak.imag() + bp.imag() * ak.real());
                const double most = size(ap) * size(bk) + size(bp) * size(ak);
                // Underflow and overflow tell nothing.
                is_near = std::fabs(re) + std::fabs(im) <= near * most + 0x1p-900 || !(most < 0x1p1000);
            }
            if (is_near) return true;
        }
    return false;
}

} // namespace

bool read_dense(const perm_csr &a, SmallMatrix &out) {
    if (!is_plain(a)) return false;
    set_order(a.n_rows, out);
    return with_values(a.values, a.value_type, out, [&](auto values) {
        if (lists_all(a)) return put_all(values, out);
        return for_each_entry(a, [&](std::size_t k, int i, int j) { values.put(k, out.at(i, j)); });
    });
}

bool read_full(const void *values, perm_value_type type, int n, SmallMatrix &out) {
    set_order(n, out);
    return with_values(values, type, out, [&](auto all) { return put_all(all, out); });
}

bool may_have_proportional_lines(const SmallMatrix &a) {
    return some_proportional(a.order, [&a](int i, int j) { return a.entry(i, j); }) ||
           some_proportional(a.order, [&a](int j, int i) { return a.entry(i, j); });
}

namespace {

double factorial(int n) { // exact up to 18, rounded at each factor from then on
    double f = 1;
    for (int k = 2; k <= n; ++k) f *= k;
    return f;
}

} // namespace

GridColumns SmallGrid::of(const SmallMatrix &a) const {
    GridColumns columns{a.stride, re.data()};
    if (a.is_complex) columns.im = im.data();
    if (is_split) columns.re_low = re_low.data();
    if (is_split && a.is_complex) columns.im_low = im_low.data();
    return columns;
}

bool put_on_grid(const SmallMatrix &a, SmallGrid &out) {
    RowCounts counts;
    std::fill_n(counts.of.begin(), a.order, 1);
    counts.total = a.order;
    return put_on_grid(a, counts, out);
}

bool put_on_grid(const SmallMatrix &a, const RowCounts &counts, SmallGrid &out) {
    alignas(64) double scale[most_small_order] = {};
    const GridColumns given{a.stride, a.re.data(), a.is_complex ? a.im.data() : nullptr};
    if (!raise_to_largest(given, a.order, scale)) return false;
    const int spread = spread_of(counts.total);
    for (int i = 0; i < a.order; ++i) {
        const int count = counts.of[static_cast<std::size_t>(i)];
        if (count == 0) continue;
        const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(scale[i]) >> 52) - 1022 + spread;
        if (scale[i] == 0 || std::abs(exponent) > most_row_exponent) return false;
        scale[i] = power_of_two(-exponent);
        out.exp2 += std::int64_t{count} * exponent;
    }
    const SignCut all = cut_to_grids(given, a.order, scale, spread,
                                     {out.re.data(), out.re_low.data(), out.im.data(), out.im_low.data()});
    out.is_split = all.splits;
    if (all.moves) {
        const double entry = std::ldexp(a.is_complex ? 1.4143 : 1, -spread); // the largest can be
        const int n = counts.total;
        out.moved = factorial(n) * std::pow(entry, n) * std::ldexp(n, 2 * spread - 104);
    }
    return true;
}

} // namespace libperm
