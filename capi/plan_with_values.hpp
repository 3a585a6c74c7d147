// A plan with the values of the matrix, or of several, that it is executed with: the caller's, or its own, as
// another process saved them.
#pragma once

#include "capi/plan_handle.hpp"
#include "capi/task_source.hpp"
#include "lib/input/option_table.hpp"

#include <perm.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace capi {

// Matrix k's values begin k * stride values after the first's.
struct ValuesShape {
    std::int64_t stride = 0, count = 1;
};

class PlanWithValues {
  public:
    // The plan and the values must outlive it; those of a source are taken. Throw Error, also of options that
    // do not count for the call.
    PlanWithValues(const perm_plan *plan, const void *values, libperm::Call call,
                   const ValuesShape &shape = {});
    PlanWithValues(TaskSource &source, const perm_opts *opts, libperm::Call call);
    PlanWithValues(const PlanWithValues &) = delete;
    PlanWithValues &operator=(const PlanWithValues &) = delete;

    const perm_plan &plan() const { return *plan_; }
    const void *values() const { return values_; }
    const ValuesShape &shape() const { return shape_; }
    const libperm::Options &options() const { return plan_->plan.options; }

    // To its matrix and values, or to all of them, in words; none: "".
    std::string difference(const perm_csr &a) const;
    TaskSource source(std::string_view kind) const; // of a task of this kind

  private:
    const char *matrix(std::int64_t k) const;
    std::int64_t matrices_held() const; // by a saved one

    const std::unique_ptr<perm_plan> own_; // none: the caller's
    const perm_plan *const plan_;
    const GivenNumbers given_;
    const void *const values_;
    const ValuesShape shape_;
};

} // namespace capi
