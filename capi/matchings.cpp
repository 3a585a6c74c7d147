// Numbers of matchings (lib/polynomial/polynomial_task): as a task, and at once.
#include "capi/boundary.hpp"
#include "capi/results_by_size.hpp"
#include "capi/task_kinds.hpp"
#include "lib/polynomial/polynomial_task.hpp"

#include <perm.h>

#include <memory>
#include <utility>

namespace {

class MatchingTask final : public capi::TaskBySize<libperm::MatchingTask> {
  public:
    // The matrix must outlive it.
    MatchingTask(const perm_csr *a, const perm_opts *opts) : MatchingTask(a, opts, {}, false) {}
    MatchingTask(const perm_csr *a, const perm_opts *opts, capi::TaskSource source, bool names_way)
        : TaskBySize(opts, libperm::Call::matchings, std::move(source)) {
        make([&](const libperm::Options &options, libperm::RunControl &control) {
            return std::make_unique<libperm::MatchingTask>(a, options, control, way(names_way));
        });
    }
    // What is told in `source` is, with the way that it names, and the matrix is kept there.
    static std::unique_ptr<perm_task> kept(const perm_csr *a, const perm_opts *opts, capi::TaskSource source,
                                           bool names_way) {
        auto task = std::make_unique<MatchingTask>(a, opts, std::move(source), names_way);
        task->keep(libperm::TaskIdentity::matchings, *a);
        return task;
    }
};

} // namespace

namespace capi {

std::unique_ptr<perm_task> matching_task(const perm_csr *a, const perm_opts *opts) {
    TaskSource source;
    source.take(opts);
    return MatchingTask::kept(a, opts, std::move(source), false);
}

std::unique_ptr<perm_task> matching_task(TaskSource source, const perm_opts *opts) {
    const TaskSource known = source; // that the views are of
    const perm_opts all = known.options(opts);
    const perm_csr a = known.matrix.csr();
    return MatchingTask::kept(&a, &all, std::move(source), true);
}

} // namespace capi

extern "C" perm_status perm_matchings(const perm_csr *a, const perm_opts *opts, int64_t count,
                                      perm_result *results) {
    return capi::guarded([&] {
        capi::run_by_size(count, results, "numbers of matchings",
                          [&] { return std::make_unique<MatchingTask>(a, opts); });
    });
}
