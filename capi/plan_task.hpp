// A plan with values as a task, and what is done with both at once.
#pragma once

#include "capi/plan_execute.hpp"
#include "capi/plan_with_values.hpp"
#include "capi/task.hpp"
#include "capi/task_source.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/option_table.hpp"

#include <perm.h>

#include <memory>

namespace capi {

class PlanTask final : public perm_task {
  public:
    // The plan and the values must outlive it.
    PlanTask(const perm_plan *plan, const void *values);
    // Its own.
    PlanTask(TaskSource source, const perm_opts *opts);

    Room room() const override { return {.results = 1}; }
    void run(const perm_answer &answer) const override;
    void combine(std::span<const std::string_view> partials, const perm_answer &answer) const override;
    std::string saved() const override { return of_.source(libperm::TaskIdentity::plan).bytes(); }
    std::string difference(const perm_csr &a) const override { return of_.difference(a); }
    std::string explain(perm_format format) const override { return capi::explain(of_.plan(), format); }

  protected:
    const libperm::Options &options() const override { return of_.options(); }
    libperm::Call shard_call() const override { return libperm::Call::plan_shards; }
    void with_task(libperm::RunControl &control, const Work &work) const override;
    void telling_interval(const std::function<void()> &work) const override;

  private:
    void check_values();

    const PlanWithValues of_;
    libperm::Values checked_;
    double seconds_check_ = 0;
};

} // namespace capi
