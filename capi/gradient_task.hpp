// The derivatives of a plan's permanent as a task, and what is done with it at once.
#pragma once

#include "capi/plan_with_values.hpp"
#include "capi/task.hpp"
#include "lib/execute/gradient_task.hpp"

#include <perm.h>

#include <memory>

namespace capi {

class GradientTask final : public perm_task {
  public:
    // The plan and the values must outlive it.
    GradientTask(const perm_plan *plan, const void *values);
    // Its own, in the way that is named there.
    GradientTask(TaskSource source, const perm_opts *opts);

    Room room() const override;
    void run(const perm_answer &answer) const override;
    void combine(std::span<const std::string_view> partials, const perm_answer &answer) const override;
    std::string saved() const override;
    std::string difference(const perm_csr &a) const override { return of_.difference(a); }

  protected:
    const libperm::Options &options() const override { return of_.options(); }
    libperm::Call shard_call() const override { return libperm::Call::plan_gradient; }
    void with_task(libperm::RunControl &, const Work &work) const override { work(*task_); }
    void telling_interval(const std::function<void()> &work) const override;

  private:
    void make(const std::string *way);
    // find(control): the derivatives.
    template <class Find> void answered(const perm_answer &answer, const Find &find) const;

    const PlanWithValues of_;
    std::unique_ptr<const libperm::GradientTask> task_;
    double seconds_plan_ = 0;
};

} // namespace capi
