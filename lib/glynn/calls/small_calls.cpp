#include "lib/glynn/calls/small_calls.hpp"

#include "lib/base/system.hpp"
#include "lib/glynn/graphs/graph_sum.hpp"
#include "lib/glynn/multiplicities/line_classes.hpp"
#include "lib/glynn/small_matrix.hpp"
#include "lib/input/matrix.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/scaled.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

namespace libperm {
namespace {

char *copy_of(std::string_view text) {
    auto *copy = static_cast<char *>(std::malloc(text.size() + 1));
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    return copy;
}

char *text_of(Int128 x) {
    std::array<char, 48> text{};
    char *first = text.end();
    UInt128 left = x < 0 ? -static_cast<UInt128>(x) : static_cast<UInt128>(x);
    do {
        *--first = static_cast<char>('0' + static_cast<int>(left % 10));
        left /= 10;
    } while (left != 0);
    if (x < 0) *--first = '-';
    return copy_of({first, static_cast<std::size_t>(text.end() - first)});
}

char *text_of(const mpz_class &x) {
    auto *text = static_cast<char *>(std::malloc(mpz_sizeinbase(x.get_mpz_t(), 10) + 2)); // sign and end
    if (!text) throw std::bad_alloc();
    return mpz_get_str(text, 10, x.get_mpz_t());
}

} // namespace

char *text_of(const TapeAnswer &answer) {
    std::array<char, 80> text{};
    const std::size_t digits = answer.digits();
    char *end = quick_text(answer.re, digits, text.data());
    if (end && answer.im.mantissa != 0) {
        if (answer.im.mantissa > 0) *end++ = '+';
        end = quick_text(answer.im, digits, end);
        if (end) *end++ = 'i';
    }
    if (end) return copy_of({text.data(), static_cast<std::size_t>(end - text.data())});
    return copy_of(answer_of(answer, true).text);
}

char *text_of(const DenseSum &sum) {
    return sum.mpz ? text_of(*sum.mpz) : sum.integer ? text_of(*sum.integer) : text_of(sum.value);
}

SmallAccount account_of(const DenseSum &sum, int n, std::int64_t nnz, int threads) {
    if (sum.engine != Engine::glynn)
        return {n, nnz, threads, 0, sum.operations, sizeof(SmallMatrix), sum.engine};
    if (sum.is_by_definition) {
        const double permutations = n < 2 ? 1 : n == 2 ? 2 : 6;
        return {n, nnz, threads, permutations, permutations * n, sizeof(SmallMatrix)};
    }
    const int order = std::max(n, least_sign_order);
    const double subsets = power_of_two(order - 1);
    return {n, nnz, threads, subsets, subsets * order, sizeof(SmallMatrix)};
}

void fill(perm_result &result, const TapeAnswer &value, bool tolerance_met, const SmallAccount &account) {
    put(answer_of(value, false), result);
    result.rel_error_bound = value.rel_error_bound;
    result.exact = value.exact;
    result.tolerance_met = tolerance_met;
    result.engine = engine_name(account.engine);
    result.device = "cpu";
    result.n = account.n;
    result.nnz = account.nnz;
    result.threads = account.threads;
    result.subsets = account.subsets;
    result.operations = account.operations;
    result.peak_bytes = static_cast<std::int64_t>(account.bytes);
    result.blocks = result.blocks_computed = 1;
}

namespace {

constexpr double least_parallel_terms = 1 << 17; // of sums over counts

int threads_of(const SmallRequest &request) {
    const int cores = available_cores();
    return request.threads > 0 ? std::min(request.threads, cores) : cores;
}
int threads_of(const SmallRequest &request, const SmallMatrix &a) {
    return a.order < least_parallel_order(a.is_integer) ? 1 : threads_of(request);
}

bool compute_line_classes(const perm_csr &given, const SmallRequest &request, perm_result &result) {
    SmallLineClasses kinds;
    TapeAnswer value;
    const bool may_be_dd = request.precision == Precision::automatic;
    if (request.precision == Precision::exact || !read_line_classes(given, kinds)) return false;
    const int threads = kinds.terms < least_parallel_terms ? 1 : threads_of(request);
    if (!glynn_multiplicity(kinds, request.tolerance, may_be_dd, threads, value) ||
        !(value.rel_error_bound <= request.tolerance))
        return false;
    result.text = text_of(value);
    const int n = kinds.row_count.total;
    fill(result, value, true,
         {n, kinds.nnz, threads, kinds.terms, kinds.terms * n, sizeof(SmallLineClasses)});
    return true;
}

bool compute_matrix(const perm_csr &given, const SmallRequest &request, perm_result &result) {
    SmallMatrix a;
    if (!read_dense(given, a) || !is_small_and_dense(a.given, a.nnz)) return false;
    const int threads = threads_of(request, a);
    DenseSum sum;
    if (!sum_dense(a, request.precision, threads, request.watch, sum) ||
        !(sum.value.rel_error_bound <= request.tolerance))
        return false;
    result.text = text_of(sum);
    fill(result, sum.value, true, account_of(sum, a.given, a.nnz, threads));
    return true;
}

// The general road's numbers of lines and entries: copies are written out there.
SmallAccount account_of(const DenseSum &sum, const SmallGraph &small) {
    const DoublesGraph &graph = small.graph;
    if (small.kinds.empty()) return account_of(sum, graph.n(), graph.pattern.nnz(), 1);
    std::vector<std::int64_t> copies(static_cast<std::size_t>(graph.n()), 0);
    std::int64_t lines = 0, entries = 0;
    for (const EqualLines &kind : small.kinds) {
        copies[static_cast<std::size_t>(kind.line)] = kind.count;
        lines += kind.count;
    }
    for (std::int32_t i = 0; i < graph.n(); ++i)
        for (const std::int32_t j : graph.pattern.row(i)) {
            const std::int64_t of_i = copies[static_cast<std::size_t>(i)],
                               of_j = copies[static_cast<std::size_t>(j)];
            const bool is_copy = j == i + 1 && of_j == 0; // of i, once: a pair of copies
            entries += i == j ? of_i : is_copy ? of_i * (of_i - 1) / 2 : of_i * of_j;
        }
    return account_of(sum, static_cast<int>(lines), entries, 1);
}

bool compute_graph(const perm_csr &given, const SmallRequest &request, perm_result &result) {
    SmallGraph small;
    DenseSum sum;
    if (!read_graph(given, request.function, small) ||
        (small.kinds.empty() && !is_small_and_dense(small.graph.pattern)) ||
        !sum_graph(small, request.precision, request.tolerance, sum) ||
        !(sum.value.rel_error_bound <= request.tolerance))
        return false;
    result.text = text_of(sum);
    fill(result, sum.value, true, account_of(sum, small));
    return true;
}

} // namespace

std::optional<MatrixFunction> compute_small(const perm_csr *given, const perm_opts *opts,
                                            perm_result &result) {
    if (!given || given->struct_size != sizeof(perm_csr) || given->n_rows > most_lines_read) return {};
    const bool has_kinds = given->row_multiplicity || given->col_multiplicity;
    if (!has_kinds && given->n_rows > most_small_order) return {};
    const std::optional<SmallRequest> request = small_request(opts);
    if (!request) return {};
    const bool is_graph = request->function != MatrixFunction::permanent;
    const bool is_done = is_graph    ? compute_graph(*given, *request, result)
                         : has_kinds ? compute_line_classes(*given, *request, result)
                                     : compute_matrix(*given, *request, result);
    return is_done ? std::optional(request->function) : std::nullopt;
}

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

GlynnPlan::GlynnPlan(const Plan &plan)
    : n_(plan.n()),
      threads_(plan.input.pattern.one_sided ||
                       n_ < least_parallel_order(plan.input.value_type == PERM_VALUE_I64)
                   ? 1
                   : plan.options.threads),
      nnz_(plan.input.pattern.nnz()),
      type_(plan.input.value_type),
      function_(plan.options.function),
      precision_(plan.options.precision),
      tolerance_(plan.options.tolerance),
      escalation_(plan.options) {}

std::unique_ptr<const GlynnPlan> GlynnPlan::of(const Plan &plan) {
    if (!executed_straight(plan)) return nullptr;
    return std::unique_ptr<const GlynnPlan>(new GlynnPlan(plan)); // its constructor is private
}

bool GlynnPlan::run(const void *values, DenseSum &sum, const CallWatch &watch) const {
    if (function_ != MatrixFunction::permanent) {
        SmallGraph small;
        return read_full_graph(values, type_, n_, function_, small) &&
               sum_graph(small, precision_, tolerance_, sum) &&
               escalation_.is_enough_in_doubles(sum.value.rel_error_bound);
    }
    SmallMatrix a;
    return read_full(values, type_, n_, a) && sum_dense(a, precision_, threads_, watch, sum) &&
           escalation_.is_enough_in_doubles(sum.value.rel_error_bound);
}

void GlynnPlan::fill(perm_result &result, const DenseSum &sum, bool with_text) const {
    const bool is_beyond_double = sum.mpz || (sum.integer && !fits_double(*sum.integer));
    if (with_text || is_beyond_double) result.text = text_of(sum);
    libperm::fill(result, sum.value, escalation_.is_met(sum.value.rel_error_bound),
                  account_of(sum, n_, nnz_, threads_));
}

} // namespace libperm
