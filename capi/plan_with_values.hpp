// A plan with the values that it is executed with: the caller's, or its own, as another process saved them.
#pragma once

#include "capi/plan_handle.hpp"
#include "capi/task_source.hpp"
#include "lib/input/option_table.hpp"

#include <perm.h>

#include <memory>
#include <string>
#include <string_view>

namespace capi {

class PlanWithValues {
  public:
    // The plan and the values must outlive it; those of a source are taken. Throw Error, also of options that
    // do not count for the call.
    PlanWithValues(const perm_plan *plan, const void *values, libperm::Call call);
    PlanWithValues(TaskSource &source, const perm_opts *opts, libperm::Call call);
    PlanWithValues(const PlanWithValues &) = delete;
    PlanWithValues &operator=(const PlanWithValues &) = delete;

    const perm_plan &plan() const { return *plan_; }
    const void *values() const { return values_; }
    const libperm::Options &options() const { return plan_->plan.options; }

    std::string difference(const perm_csr &a) const; // to its matrix and values, in words; none: ""
    TaskSource source(std::string_view kind) const;  // of a task of this kind

  private:
    const std::unique_ptr<perm_plan> own_; // none: the caller's
    const perm_plan *const plan_;
    const GivenNumbers given_;
    const void *const values_;
};

} // namespace capi
