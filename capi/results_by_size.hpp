// Results by a number of entries, from 0 on: numbers of matchings, coefficients of polynomials.
#pragma once

#include "capi/results.hpp"
#include "capi/task.hpp"
#include "capi/task_source.hpp"
#include "lib/base/threads.hpp"
#include "lib/input/matrix.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/outcome.hpp"

#include <perm.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace capi {

// Into the answer's results what find() comes to, in an arena of the options' threads.
void answer_by_size(const perm_answer &answer, const libperm::Plan &made, const libperm::Options &options,
                    const std::function<std::vector<libperm::Outcome>()> &find);

// make() at once: `count` results, which are left cleared by what is thrown. `what` there are:
// "coefficients".
void run_by_size(std::int64_t count, perm_result *results, const char *what,
                 const std::function<std::unique_ptr<perm_task>()> &make);

// A task of the library's whose answer is such results.
template <class Of> class TaskBySize : public perm_task {
  public:
    Room room() const override { return {.results = task_->count()}; }
    void run(const perm_answer &answer) const override {
        answered(answer,
                 [&](libperm::RunControl &control) { return libperm::run_kept(*task_, options_, control); });
    }
    void combine(std::span<const std::string_view> partials, const perm_answer &answer) const override {
        answered(answer,
                 [&](libperm::RunControl &control) { return libperm::combine(*task_, partials, control); });
    }
    std::string saved() const override { return source_.bytes(); }
    std::string difference(const perm_csr &a) const override { return source_.difference(a); }

  protected:
    TaskBySize(const perm_opts *opts, libperm::Call call, TaskSource source)
        : options_(libperm::read_options(opts, call)), call_of_options_(call), source_(std::move(source)) {}

    const libperm::Options &options() const override { return options_; }
    libperm::Call shard_call() const override { return call_of_options_; }
    void with_task(libperm::RunControl &, const Work &work) const override { work(*task_); }

    // make(options, control), of the call.
    template <class Make> void make(const Make &make) {
        call_ = std::make_unique<libperm::RunControl>(options_);
        libperm::with_threads(options_.threads, [&] { task_ = make(options_, *call_); });
    }
    // What it was made of stays, for other processes.
    TaskSource &keep(std::string_view kind, const perm_csr &a) {
        source_.kind = kind;
        source_.plan = task_->plan();
        source_.take(a, libperm::read_once(&a));
        return source_;
    }
    const std::string *way(bool names_way) const { return names_way ? &source_.plan : nullptr; }

  private:
    template <class Find> void answered(const perm_answer &answer, const Find &find) const {
        controlled([&](libperm::RunControl &control) {
            answer_by_size(answer, task_->plan_made(), options_, [&] { return find(control); });
        });
    }

    const libperm::Options options_;
    const libperm::Call call_of_options_;
    TaskSource source_;
    std::unique_ptr<const Of> task_;
};

} // namespace capi
