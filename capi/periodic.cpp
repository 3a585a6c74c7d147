// perm_periodic_*: matrices that repeat, but for their terms (capi/perm_task.cpp).
#include "capi/caller.hpp"
#include "capi/given.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/cell/found_cells.hpp"
#include "lib/report/report.hpp"

#include <perm.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>

using capi::guarded;
using libperm::Error;

namespace {

const libperm::PeriodicPlan &plan_of(const perm_periodic_plan *plan, libperm::ApiCall call) {
    capi::require_executable(plan, call);
    return plan->plan;
}

} // namespace

void capi::require_executable(const perm_periodic_plan *plan, libperm::ApiCall call) {
    if (!plan) throw Error(PERM_BAD_ARGUMENT, "the plan is a null pointer");
    libperm::require_counting(plan->plan.options, call);
}

std::unique_ptr<perm_periodic_plan> capi::periodic_plan(const perm_periodic *a, const perm_opts *opts) {
    const libperm::Options options = libperm::read_options(opts, libperm::ApiCall::periodic_create);
    const libperm::CurrentCall current(options);
    auto made = std::make_unique<perm_periodic_plan>();
    libperm::Charge charge;
    libperm::with_threads(options.threads, [&] {
        made->plan = libperm::make_periodic_plan(libperm::read_periodic(a, &libperm::call().memory(), charge),
                                                 options, libperm::MayBeTables::yes);
    });
    made->source.take(opts);
    made->source.periodic = capi::GivenPeriodic(*a);
    return made;
}

perm_status perm_periodic_lattice(const char *name, perm_csr *cell, int64_t *row_ptr, int64_t *col_idx,
                                  int64_t *values) {
    return guarded([&] {
        if (!name) throw Error(PERM_BAD_ARGUMENT, "the lattice's name is a null pointer");
        if (!cell) throw Error(PERM_BAD_ARGUMENT, "the place for the cell is a null pointer");
        const perm_csr given = libperm::read_known(*cell, offsetof(perm_csr, row_multiplicity), "perm_csr");
        const bool wanted = row_ptr || col_idx || values;
        if (wanted && !(row_ptr && col_idx && values))
            throw Error(PERM_BAD_ARGUMENT,
                        "of row_ptr, col_idx and values some are null pointers: give all three, or none to "
                        "be told how long they are");
        const libperm::LatticeCell found = libperm::lattice_cell(name);
        const auto nnz = static_cast<std::int64_t>(found.col_idx.size());
        if (wanted && (given.n_rows != found.rows || given.n_cols != found.columns() || given.nnz != nnz))
            throw Error(PERM_BAD_ARGUMENT, "the arrays are not for this lattice's cell: call without them "
                                           "first, which tells n_rows, n_cols and nnz");
        cell->n_rows = found.rows;
        cell->n_cols = found.columns();
        cell->nnz = nnz;
        cell->row_ptr = row_ptr;
        cell->col_idx = col_idx;
        cell->values = values;
        cell->index_type = PERM_INDEX_I64;
        cell->value_type = PERM_VALUE_I64;
        if (!wanted) return;
        std::ranges::copy(found.row_ptr, row_ptr);
        std::ranges::copy(found.col_idx, col_idx);
        std::ranges::copy(found.values, values);
    });
}

perm_status perm_periodic_create(const perm_periodic *a, const perm_opts *opts, perm_periodic_plan **plan) {
    return capi::made(plan, "plan", [&] { return capi::periodic_plan(a, opts); });
}

perm_status perm_periodic_generating_function(const perm_periodic_plan *plan, perm_format format,
                                              char *buffer, size_t capacity, size_t *needed) {
    return guarded([&] {
        const libperm::PeriodicPlan &p = plan_of(plan, libperm::ApiCall::periodic_generating_function);
        const bool json = capi::is_json(format);
        const std::lock_guard lock(plan->function_mutex);
        if (!plan->function) {
            const libperm::CurrentCall current(p.options);
            libperm::with_threads(p.options.threads,
                                  [&] { plan->function = libperm::generating_function(p); });
            libperm::call().finish();
        }
        capi::write_text(json ? libperm::generating_function_json(*plan->function)
                              : libperm::generating_function_text(*plan->function),
                         buffer, capacity, needed);
    });
}

perm_status perm_periodic_growth(const perm_periodic_plan *plan, double *growth, double *lower,
                                 double *upper) {
    return guarded([&] {
        const libperm::PeriodicPlan &p = plan_of(plan, libperm::ApiCall::periodic_growth);
        const libperm::CurrentCall current(p.options);
        libperm::Growth found;
        libperm::with_threads(p.options.threads, [&] { found = libperm::growth_of(p); });
        libperm::call().finish();
        if (growth) *growth = found.value;
        if (lower) *lower = found.lower;
        if (upper) *upper = found.upper;
    });
}

perm_status perm_periodic_explain(const perm_periodic_plan *plan, perm_format format, char *buffer,
                                  size_t capacity, size_t *needed) {
    return guarded([&] {
        const libperm::PeriodicPlan &p = plan_of(plan, libperm::ApiCall::periodic_create);
        capi::write_text(capi::is_json(format) ? libperm::periodic_json(p) : libperm::periodic_text(p),
                         buffer, capacity, needed);
    });
}

perm_status perm_periodic_destroy(perm_periodic_plan *plan) {
    delete plan;
    return PERM_OK;
}
