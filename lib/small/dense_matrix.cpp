#include "lib/small/dense_matrix.hpp"

#include "lib/small/entries.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

bool is_plain(const perm_csr &a) {
    return a.struct_size == sizeof(perm_csr) && a.n_rows == a.n_cols && a.n_rows >= 1 &&
           a.n_rows <= most_small_order && a.nnz >= 0 && a.nnz <= a.n_rows * a.n_rows && a.row_ptr &&
           a.col_idx && (a.index_type == PERM_INDEX_I64 || a.index_type == PERM_INDEX_I32) &&
           !a.row_multiplicity && !a.col_multiplicity && (a.value_type == PERM_VALUE_PATTERN) == !a.values;
}

template <class Number> void set_up(const DenseMatrix &of, SmallColumns<Number> &columns, bool with_ones) {
    std::fill_n(columns.begin(), of.size(), Number(0));
    for (int i = of.given; with_ones && i < of.order; ++i) columns[of.at(i, i)] = 1;
}

bool read_whole(const perm_csr &a, DenseMatrix &out) {
    out.is_whole = true;
    set_up(out, out.whole, true);
    const auto *values = static_cast<const std::int64_t *>(a.values);
    return for_each_entry(a, [&](std::size_t k, int i, int j) {
        const std::int64_t x = values ? values[k] : 1;
        out.whole[out.at(i, j)] = x;
        out.nnz += x != 0;
    });
}

bool read_real(const perm_csr &a, DenseMatrix &out) {
    set_up(out, out.re, true);
    const auto *values = static_cast<const double *>(a.values);
    double check = 0; // infinities and NaN make it NaN
    return for_each_entry(a,
                          [&](std::size_t k, int i, int j) {
                              const double x = values[k];
                              check += 0 * x;
                              out.re[out.at(i, j)] = x;
                              out.nnz += x != 0;
                          }) &&
           check == 0;
}

bool read_complex(const perm_csr &a, DenseMatrix &out) {
    set_up(out, out.re, true);
    set_up(out, out.im, false);
    const auto *values = static_cast<const double *>(a.values);
    double check = 0;
    const bool is_read = for_each_entry(a, [&](std::size_t k, int i, int j) {
        const double re = values[2 * k], im = values[2 * k + 1];
        check += 0 * re + 0 * im;
        out.re[out.at(i, j)] = re;
        out.im[out.at(i, j)] = im;
        out.nnz += re != 0 || im != 0;
        out.is_complex |= im != 0;
    });
    return is_read && check == 0;
}

struct Parts {
    double re, im;
};

// Lines by their entries, line(l, k) being entry k of line l.
template <class Line> bool some_proportional(int n, const Line &line) {
    constexpr double near = 0x1p-46; // more than the roundings of two products
    const auto size = [](Parts x) { return std::fabs(x.re) + std::fabs(x.im); };
    for (int a = 1; a < n; ++a)
        for (int b = 0; b < a; ++b) {
            int p = 0; // where line a is not 0
            while (p + 1 < n && size(line(a, p)) == 0) ++p;
            const Parts ap = line(a, p), bp = line(b, p);
            bool is_near = true;
            for (int k = 0; k < n && is_near; ++k) {
                const Parts ak = line(a, k), bk = line(b, k);
                const double re = (ap.re * bk.re - ap.im * bk.im) - (bp.re * ak.re - bp.im * ak.im);
                const double im = (ap.re * bk.im + ap.im * bk.re) - (bp.re * ak.im + bp.im * ak.re);
                const double most = size(ap) * size(bk) + size(bp) * size(ak);
                // Underflow and overflow tell nothing.
                is_near = std::fabs(re) + std::fabs(im) <= near * most + 0x1p-900 || !(most < 0x1p1000);
            }
            if (is_near) return true;
        }
    return false;
}

} // namespace

bool read_dense(const perm_csr &a, DenseMatrix &out) {
    if (!is_plain(a)) return false;
    out.given = static_cast<int>(a.n_rows);
    out.order = std::max(out.given, least_sign_order);
    out.stride = (out.order + 3) / 4 * 4;
    switch (a.value_type) {
    case PERM_VALUE_F64:
        return read_real(a, out);
    case PERM_VALUE_C128:
        return read_complex(a, out);
    case PERM_VALUE_I64:
    case PERM_VALUE_PATTERN:
        return read_whole(a, out);
    default:
        return false;
    }
}

bool may_have_proportional_lines(const DenseMatrix &a) {
    const auto entry = [&a](int i, int j) -> Parts {
        const std::size_t k = a.at(i, j);
        if (a.is_whole) return {static_cast<double>(a.whole[k]), 0};
        return {a.re[k], a.is_complex ? a.im[k] : 0};
    };
    return some_proportional(a.order, entry) ||
           some_proportional(a.order, [&](int j, int i) { return entry(i, j); });
}

} // namespace libperm
