#include "lib/small/dense_sum.hpp"

#include "lib/number/wide_value.hpp"
#include "lib/small/by_definition.hpp"
#include "lib/small/in_doubles.hpp"
#include "lib/small/in_long_integers.hpp"

#include <cmath>

namespace libperm {

bool fits_double(Int128 x) { return static_cast<Int128>(static_cast<double>(x)) == x; }

namespace {

TapeAnswer rounded(const WholePermanent &permanent) {
    TapeAnswer answer;
    const auto re = static_cast<double>(permanent.re), im = static_cast<double>(permanent.im);
    answer.re = make_scaled(re, permanent.exp2);
    answer.im = make_scaled(im, permanent.exp2);
    answer.exact = fits_double(permanent.re) && fits_double(permanent.im);
    if (answer.exact) return answer;
    const double size = std::hypot(re, im);
    answer.set_error(make_scaled(size, permanent.exp2),
                     make_scaled(size * 0x1p-53 * (1 + 0x1p-50), permanent.exp2));
    return answer;
}

Scaled nearest(const mpz_class &x) {
    const Tracked near = tracked_of(mpq_class(x));
    return make_scaled(near.value, near.exp2);
}

} // namespace

bool sum_dense(const SmallMatrix &a, Precision precision, int threads, const CallWatch &watch,
               DenseSum &out) {
    if (a.given >= least_order_compared && may_have_proportional_lines(a)) return false;
    if (precision == Precision::exact && !a.is_whole) return false;
    out.is_by_definition = !a.is_whole && a.given <= most_by_definition;
    if (out.is_by_definition) return permanent_by_definition(a, out.value);
    const bool counts = a.is_whole && precision != Precision::double_;
    if (const auto whole = sum_in_integers(a, counts, threads)) {
        out.value = rounded(*whole);
        if (counts) out.whole = whole->re;
    } else if (counts) {
        out.value.re = nearest(out.longer.emplace(sum_in_long_integers(a, threads, watch)));
    } else if (a.is_whole || !sum_in_doubles(a, threads, out.value)) {
        return false;
    }
    if (counts) { // every digit is in the text
        out.value.exact = true;
        out.value.error = {};
        out.value.rel_error_bound = 0;
    }
    return true;
}

} // namespace libperm
