// A task that comes to samples: whole numbers, one shot behind the other, in the answer's columns.
#pragma once

#include "capi/task.hpp"
#include "capi/task_source.hpp"
#include "lib/base/threads.hpp"

#include <perm.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace capi {

// Drawn: a libperm::TaskOf<std::vector<...>> with count().
template <class Drawn> class DrawnTask : public perm_task {
  public:
    Room room() const override { return {.columns = task_->count()}; }
    void run(const perm_answer &answer) const override {
        answered(answer,
                 [&](libperm::RunControl &control) { return libperm::run_kept(*task_, options_, control); });
    }
    void combine(std::span<const std::string_view> partials, const perm_answer &answer) const override {
        libperm::require_counting(options_, shard_call());
        answered(answer,
                 [&](libperm::RunControl &control) { return libperm::combine(*task_, partials, control); });
    }
    std::string saved() const override { return source_.bytes(); }

  protected:
    explicit DrawnTask(libperm::Options options, TaskSource source = {})
        : options_(std::move(options)), source_(std::move(source)) {}

    const libperm::Options &options() const override { return options_; }
    void with_task(libperm::RunControl &, const Work &work) const override { work(*task_); }

    const libperm::Options options_;
    TaskSource source_;
    std::unique_ptr<const Drawn> task_;

  private:
    template <class Find> void answered(const perm_answer &answer, const Find &find) const {
        controlled([&](libperm::RunControl &control) {
            libperm::with_threads(options_.threads, [&] {
                const auto found = find(control);
                std::copy(found.begin(), found.end(), answer.columns);
            });
        });
    }
};

} // namespace capi
