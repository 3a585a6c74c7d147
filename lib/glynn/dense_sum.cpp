#include "lib/glynn/dense_sum.hpp"

#include "lib/glynn/by_definition.hpp"
#include "lib/glynn/glynn_double.hpp"
#include "lib/glynn/glynn_mpz.hpp"
#include "lib/number/wide_value.hpp"

#include <cmath>

namespace libperm {

bool fits_double(Int128 x) { return static_cast<Int128>(static_cast<double>(x)) == x; }

namespace {

TapeAnswer rounded(const IntegerPermanent &permanent) {
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
    if (precision == Precision::exact && !a.is_integer) return false;
    out.is_by_definition = !a.is_integer && a.given <= most_by_definition;
    if (out.is_by_definition) return permanent_by_definition(a, out.value);
    const bool counts = a.is_integer && precision != Precision::double_;
    if (const auto integer = glynn_int128(a, counts, threads)) {
        out.value = rounded(*integer);
        if (counts) out.integer = integer->re;
    } else if (counts) {
        out.value.re = nearest(out.mpz.emplace(glynn_mpz(a, threads, watch)));
    } else if (a.is_integer || !glynn_double(a, threads, out.value)) {
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
