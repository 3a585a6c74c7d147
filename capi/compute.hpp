// A caller's plan, and what perm_compute comes to: Glynn's sum without a plan, a sum over counts, or a plan
// that is executed once; and what is certain all the same where it is refused.
#pragma once

#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/plan_gradient.hpp"
#include "lib/glynn/calls/small_calls.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/option_table.hpp"
#include "lib/input/options.hpp"
#include "lib/plan/plan.hpp"
#include "lib/polynomial/hessian_product.hpp"
#include "lib/run/call.hpp"
#include "lib/tape/on_device.hpp"
#include "lib/tape/tape_run.hpp"

#include <memory>
#include <perm.h>
#include <string>

struct perm_plan {
    libperm::Plan plan;
    // Null where there is no such way.
    std::unique_ptr<const libperm::GlynnPlan> glynn;
    std::unique_ptr<const libperm::TapePlan> direct;
    libperm::PlanGradient gradient;
    libperm::Lazy<libperm::HessianProduct> hessian;
    libperm::IdleTapes idle_tapes;
    double seconds_check = 0, seconds_plan = 0;
    // Of a computation that was made: of the entries as that took them, not as the caller gave them.
    bool is_account = false;
};

namespace capi {

// Throw Error: of a null pointer, of a plan that only tells of a computation, or of one with options that do
// not count for the call.
void require_kept(const perm_plan *plan);
void require_executable(const perm_plan *plan, libperm::ApiCall call);

// The caller's matrix, within the call's memory, polled.
libperm::InputPattern pattern_for(const perm_csr *a,
                                  libperm::MatrixFunction function = libperm::MatrixFunction::permanent);
libperm::Values values_for(const libperm::InputPattern &input, const void *values);
libperm::Values values_for(const libperm::InputPattern &input, const perm_csr &a);

// In place: of microseconds each copy counts. False, and the result is cleared: it is to be computed
// otherwise.
bool compute_by_sum(const perm_csr *a, const perm_opts *opts, perm_result *result);

// Into a cleared result. Returns the plan that it went by, which only tells of the computation; where none is
// wanted, thousands of each kind need none.
enum class WithPlan { no, yes };
std::unique_ptr<perm_plan> compute_otherwise(const perm_csr *a, const libperm::Options &options,
                                             perm_result &r, WithPlan wanted = WithPlan::no);

// How a single computation goes where not by this plan of the matrix, in words; else empty.
std::string way_beside_plan(const perm_csr *a, const libperm::Options &options, const libperm::Plan &plan);

// Of what was computed without a plan: the one that would have been made.
std::unique_ptr<perm_plan> plan_beside_sum(const perm_csr *a, const perm_opts *opts);

// "\n  perm(A) lies between ...", or nothing where that would take more than there is. Throws nothing.
std::string interval_beside(const libperm::Options &options, const perm_csr *a) noexcept;
std::string interval_beside(const libperm::Options &options, const libperm::InputPattern &input,
                            const void *values) noexcept;

// `work`; a refusal's text ends with what interval_beside(options, matrix...) says.
template <class Work, class... Matrix>
void telling_interval(const libperm::Options &options, const Work &work, const Matrix &...matrix) {
    try {
        work();
    } catch (const libperm::Error &error) {
        if (error.status() != PERM_REFUSED_TIME && error.status() != PERM_REFUSED_MEMORY) throw;
        throw libperm::Error(error.status(), error.what() + interval_beside(options, matrix...));
    }
}

} // namespace capi
