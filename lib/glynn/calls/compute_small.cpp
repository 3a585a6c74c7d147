#include "lib/glynn/calls/compute_small.hpp"

#include "lib/base/system.hpp"
#include "lib/glynn/calls/glynn_result.hpp"
#include "lib/glynn/calls/request.hpp"
#include "lib/glynn/dense_sum.hpp"
#include "lib/glynn/entries.hpp"
#include "lib/glynn/graphs/graph_sum.hpp"
#include "lib/glynn/multiplicities/glynn_multiplicity.hpp"
#include "lib/glynn/multiplicities/line_classes.hpp"
#include "lib/glynn/small_matrix.hpp"

#include <optional>
#include <vector>

namespace libperm {
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

} // namespace libperm
