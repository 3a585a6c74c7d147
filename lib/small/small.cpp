#include "lib/small/small.hpp"

#include "jit/lanes/sign_sum.hpp"
#include "lib/base/system.hpp"
#include "lib/number/bits.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/small/dense_matrix.hpp"
#include "lib/small/entries.hpp"
#include "lib/small/in_counts.hpp"
#include "lib/small/in_doubles.hpp"
#include "lib/small/in_integers.hpp"
#include "lib/small/in_long_integers.hpp"
#include "lib/small/kinds.hpp"
#include "lib/small/pieces.hpp"
#include "lib/small/request.hpp"
#include "lib/small/small_text.hpp"

#include <cmath>
#include <optional>

namespace libperm {
namespace {

bool fits_double(Int128 x) { return static_cast<Int128>(static_cast<double>(x)) == x; }

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

bool is_whole(const Scaled &x) {
    if (x.mantissa == 0 || x.exp2 >= 53) return true;
    const double value = std::ldexp(x.mantissa, ldexp_exponent(x.exp2));
    return value == std::trunc(value) && value != 0;
}

// Small complex fractions are told as such: by the general road.
bool is_enough(const TapeAnswer &answer, const SmallRequest &request, bool is_complex) {
    const bool is_fraction = answer.exact && !(is_whole(answer.re) && is_whole(answer.im));
    return answer.rel_error_bound <= request.tolerance && !(is_complex && is_fraction);
}

struct Account {
    std::int64_t n, nnz;
    int threads;
    double subsets, operations;
    std::size_t bytes;
};

void fill(perm_result &result, const TapeAnswer &value, const Account &account) {
    const Answer answer = answer_of(value, false);
    result.re = answer.re;
    result.im = answer.im;
    result.mantissa_re = answer.mantissa_re;
    result.mantissa_im = answer.mantissa_im;
    result.exp2 = answer.exp2;
    result.rel_error_bound = value.rel_error_bound;
    result.abs_error_bound = to_double_up(value.error);
    result.exact = value.exact;
    result.tolerance_met = 1;
    result.engine = engine_name(Engine::glynn);
    result.device = "cpu";
    result.n = account.n;
    result.nnz = account.nnz;
    result.threads = account.threads;
    result.subsets = account.subsets;
    result.operations = account.operations;
    result.peak_bytes = static_cast<std::int64_t>(account.bytes);
    result.blocks = result.blocks_computed = 1;
}

// Orders from which on threads are worth waking: integers modulo 2^128 take four times as long as doubles.
constexpr int least_parallel_doubles = 18, least_parallel_integers = 16;

constexpr double least_parallel_terms = 1 << 17; // of sums over counts

int threads_of(const SmallRequest &request) {
    const int cores = available_cores();
    return request.threads > 0 ? std::min(request.threads, cores) : cores;
}
int threads_of(const SmallRequest &request, const DenseMatrix &a) {
    return a.order < (a.is_whole ? least_parallel_integers : least_parallel_doubles) ? 1
                                                                                     : threads_of(request);
}

bool compute_kinds(const perm_csr &given, const SmallRequest &request, perm_result &result) {
    SmallKinds kinds;
    TapeAnswer value;
    const bool may_be_twofold = request.precision == Precision::automatic;
    if (request.precision == Precision::exact || !read_kinds(given, kinds)) return false;
    const int threads = kinds.terms < least_parallel_terms ? 1 : threads_of(request);
    if (!sum_in_counts(kinds, request.tolerance, may_be_twofold, threads, value) ||
        !is_enough(value, request, kinds.matrix.is_complex))
        return false;
    result.text = text_of(value);
    const int n = kinds.row_count.total;
    fill(result, value, {n, kinds.nnz, threads, kinds.terms, kinds.terms * n, sizeof(SmallKinds)});
    return true;
}

} // namespace

bool compute_small(const perm_csr *given, const perm_opts *opts, perm_result &result) {
    if (!given || given->struct_size != sizeof(perm_csr) || given->n_rows > most_lines_read) return false;
    const bool has_kinds = given->row_multiplicity || given->col_multiplicity;
    if (!has_kinds && given->n_rows > most_small_order) return false;
    const std::optional<SmallRequest> request = small_request(opts);
    if (!request) return false;
    if (has_kinds) return compute_kinds(*given, *request, result);
    DenseMatrix a;
    if (!read_dense(*given, a) || !is_small_and_dense(a.given, a.nnz)) return false;
    if (a.given >= least_order_compared && may_have_proportional_lines(a)) return false;

    // The general road's reductions leave next to nothing of these: every digit is right there.
    if (!a.is_whole && a.given < least_sign_order) return false;

    const int threads = threads_of(*request, a);
    if (request->precision == Precision::exact && !a.is_whole) return false;
    const bool counts = a.is_whole && request->precision != Precision::double_;
    TapeAnswer value;
    const auto whole = sum_in_integers(a, counts, threads);
    std::optional<mpz_class> longer;
    if (whole)
        value = rounded(*whole);
    else if (counts)
        value.re = nearest(longer.emplace(sum_in_long_integers(a, threads)));
    else if (a.is_whole || !sum_in_doubles(a, threads, value))
        return false;
    if (counts) { // every digit is in the text
        value.exact = true;
        value.error = {};
        value.rel_error_bound = 0;
    }
    if (!is_enough(value, *request, a.is_complex)) return false;
    result.text = longer ? text_of(*longer) : counts ? text_of(whole->re) : text_of(value);
    const double subsets = std::ldexp(1.0, a.order - 1);
    fill(result, value, {a.given, a.nnz, threads, subsets, subsets * a.order, sizeof(DenseMatrix)});
    return true;
}

} // namespace libperm
