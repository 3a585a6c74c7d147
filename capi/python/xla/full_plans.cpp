#include "capi/python/xla/full_plans.hpp"

#include <map>
#include <mutex>
#include <vector>

namespace perm_xla {

Library library;

namespace {

perm_plan *made_for(const Shape &shape) {
    std::vector<std::int64_t> row_ptr, col_idx;
    for (std::int64_t i = 0; i <= shape.rows; ++i) row_ptr.push_back(i * shape.columns);
    for (std::int64_t i = 0; i < shape.rows; ++i)
        for (std::int64_t j = 0; j < shape.columns; ++j) col_idx.push_back(j);
    perm_csr full = PERM_CSR_INIT;
    full.n_rows = shape.rows, full.n_cols = shape.columns, full.nnz = row_ptr.back();
    full.row_ptr = row_ptr.data(), full.col_idx = col_idx.data();
    full.value_type = shape.type;
    perm_opts opts = PERM_OPTS_INIT;
    if (!shape.precision.empty()) opts.precision = shape.precision.c_str();
    opts.tolerance = shape.tolerance;
    opts.threads = shape.threads;
    perm_plan *plan = nullptr;
    library.create(&full, &opts, &plan);
    return plan;
}

} // namespace

const perm_plan *plan_of(const Shape &shape) {
    static std::mutex mutex;
    static std::map<Shape, const perm_plan *>
        plans; // never freed: a call may be under way when the process ends
    const std::lock_guard lock(mutex);
    const auto found = plans.find(shape);
    if (found != plans.end()) return found->second;
    const perm_plan *plan = made_for(shape);
    if (plan) plans.emplace(shape, plan);
    return plan;
}

} // namespace perm_xla
