#include "lib/glynn/calls/glynn_result.hpp"

#include "lib/number/bits.hpp"

#include <algorithm>

namespace libperm {

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

} // namespace libperm
