#include "lib/glynn/calls/dense_numbers.hpp"

#include "lib/base/system.hpp"
#include "lib/glynn/dense_sum.hpp"
#include "lib/input/dense.hpp"
#include "lib/number/bits.hpp"
#include "lib/number/scaled.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

double write(const DenseSum &sum, bool is_complex, double *number) {
    double bound = to_double_up(sum.value.error);
    number[0] = rounded(sum.value.re, bound);
    if (is_complex) number[1] = rounded(sum.value.im, bound);
    // Of integers every digit is known; the double has the first ones.
    if (sum.mpz || (sum.integer && !fits_double(*sum.integer)))
        bound = std::nextafter(bound + std::fabs(number[0]) * 0x1p-52, HUGE_VAL);
    return bound;
}

} // namespace

DenseNumbers::DenseNumbers(const perm_dense &a, const SmallRequest &request)
    : a_(a),
      request_(request),
      n_(static_cast<int>(a.n_rows)),
      threads_(a.count == 1 && !shares_threads() ? 1
               : request.threads > 0             ? std::min(request.threads, available_cores())
                                                 : available_cores()) {}

std::optional<DenseNumbers> DenseNumbers::of(const perm_dense &a, const perm_opts *opts) {
    const bool is_for_this = a.n_rows == a.n_cols && a.n_rows >= 1 && a.n_rows <= most_small_order &&
                             !a.row_multiplicity && !a.col_multiplicity && a.values;
    if (!is_for_this) return {};
    const std::optional<SmallRequest> request = small_request(opts);
    if (!request || request->function != MatrixFunction::permanent) return {};
    return DenseNumbers(a, *request);
}

double DenseNumbers::terms() const { return power_of_two(std::max(n_, least_sign_order) - 1); }

bool DenseNumbers::shares_threads() const {
    return n_ >= least_parallel_order(a_.value_type == PERM_VALUE_I64);
}

bool DenseNumbers::put(std::int64_t k, double *number, double &bound, const CallWatch &watch) const {
    const auto type = static_cast<perm_value_type>(a_.value_type);
    const std::size_t apart = static_cast<std::size_t>(n_ * n_) * bytes_of_value(a_);
    SmallMatrix matrix;
    DenseSum sum;
    if (!read_full(static_cast<const char *>(a_.values) + static_cast<std::size_t>(k) * apart, type, n_,
                   matrix) ||
        !is_small_and_dense(n_, matrix.nnz) ||
        !sum_dense(matrix, request_.precision, shares_threads() ? threads_ : 1, watch, sum) ||
        !(sum.value.rel_error_bound <= request_.tolerance))
        return false;
    bound = write(sum, type == PERM_VALUE_C128, number);
    return true;
}

} // namespace libperm
