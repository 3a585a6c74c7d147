// Numbers of matchings (lib/polynomial/matching_numbers): as a task, and at once.
#include "capi/boundary.hpp"
#include "capi/one_call.hpp"
#include "capi/results_by_size.hpp"
#include "capi/task_kinds.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/input/matrix.hpp"
#include "lib/polynomial/matching_numbers.hpp"

#include <perm.h>

#include <memory>
#include <utility>

namespace {

class MatchingTask final : public perm_task {
  public:
    // The matrix must outlive it.
    MatchingTask(const perm_csr *a, const perm_opts *opts)
        : options_(libperm::read_options(opts, libperm::Call::matchings)) {
        make(a, nullptr);
    }
    // What is told in `source` is, with the way that it names, and the matrix is kept there.
    MatchingTask(const perm_csr *a, const perm_opts *opts, capi::TaskSource source, bool names_way)
        : options_(libperm::read_options(opts, libperm::Call::matchings)), source_(std::move(source)) {
        make(a, names_way ? &source_.plan : nullptr);
        source_.kind = libperm::TaskIdentity::matchings;
        source_.plan = task_->plan();
        source_.take(*a, libperm::read_pattern(a));
    }

    capi::Room room() const override { return {.results = task_->count()}; }
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
    const libperm::Options &options() const override { return options_; }
    libperm::Call shard_call() const override { return libperm::Call::matchings; }
    void with_task(libperm::RunControl &, const Work &work) const override { work(*task_); }

  private:
    void make(const perm_csr *a, const std::string *way) {
        call_ = std::make_unique<libperm::RunControl>(options_);
        libperm::with_threads(options_.threads, [&] {
            task_ = std::make_unique<libperm::MatchingTask>(a, options_, *call_, way);
        });
    }

    template <class Find> void answered(const perm_answer &answer, const Find &find) const {
        controlled([&](libperm::RunControl &control) {
            capi::answer_by_size(answer, task_->plan_made(), options_, [&] { return find(control); });
        });
    }

    const libperm::Options options_;
    capi::TaskSource source_;
    std::unique_ptr<const libperm::MatchingTask> task_;
};

} // namespace

namespace capi {

std::unique_ptr<perm_task> matching_task(const perm_csr *a, const perm_opts *opts) {
    TaskSource source;
    source.take(opts);
    return std::make_unique<MatchingTask>(a, opts, std::move(source), false);
}

std::unique_ptr<perm_task> matching_task(TaskSource source, const perm_opts *opts) {
    const TaskSource known = source; // that the views are of
    const perm_opts all = known.options(opts);
    const perm_csr a = known.matrix.csr();
    return std::make_unique<MatchingTask>(&a, &all, std::move(source), true);
}

} // namespace capi

extern "C" perm_status perm_matchings(const perm_csr *a, const perm_opts *opts, int64_t count,
                                      perm_result *results) {
    return capi::guarded([&] {
        capi::run_by_size(count, results, "numbers of matchings",
                          [&] { return std::make_unique<MatchingTask>(a, opts); });
    });
}
