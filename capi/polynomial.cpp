// The coefficients of perm(C + x L) (lib/polynomial/polynomial_task): as a task, and at once.
#include "capi/boundary.hpp"
#include "capi/results_by_size.hpp"
#include "capi/task_kinds.hpp"
#include "lib/base/error.hpp"
#include "lib/polynomial/polynomial_task.hpp"

#include <perm.h>

#include <memory>
#include <utility>

namespace {

class PolynomialTask final : public capi::TaskBySize<libperm::PolynomialTask> {
  public:
    // The matrix must outlive it.
    PolynomialTask(const perm_csr *a, const void *linear, const perm_opts *opts)
        : PolynomialTask(a, linear, opts, {}, false) {}
    PolynomialTask(const perm_csr *a, const void *linear, const perm_opts *opts, capi::TaskSource source,
                   bool names_way)
        : TaskBySize(opts, libperm::Call::polynomial, std::move(source)) {
        make([&](const libperm::Options &options, libperm::RunControl &control) {
            return std::make_unique<libperm::PolynomialTask>(a, linear, options, control, way(names_way));
        });
    }
    // What is told in `source` is, with the way that it names, and both matrices are kept there.
    static std::unique_ptr<perm_task> kept(const perm_csr *a, const void *linear, const perm_opts *opts,
                                           capi::TaskSource source, bool names_way) {
        auto task = std::make_unique<PolynomialTask>(a, linear, opts, std::move(source), names_way);
        task->keep(libperm::TaskIdentity::polynomial, *a).values =
            capi::GivenNumbers(linear, a->nnz, a->value_type);
        return task;
    }
};

} // namespace

namespace capi {

std::unique_ptr<perm_task> polynomial_task(const perm_csr *a, const void *linear, const perm_opts *opts) {
    TaskSource source;
    source.take(opts);
    return PolynomialTask::kept(a, linear, opts, std::move(source), false);
}

std::unique_ptr<perm_task> polynomial_task(TaskSource source, const perm_opts *opts) {
    const TaskSource known = source; // that the views are of
    const perm_opts all = known.options(opts);
    const perm_csr a = known.matrix.csr();
    if (!known.values.are(a.nnz, a.value_type))
        throw libperm::Error(PERM_BAD_ARGUMENT, "the saved polynomial has not a linear part for each entry");
    return PolynomialTask::kept(&a, known.values.data(), &all, std::move(source), true);
}

} // namespace capi

extern "C" perm_status perm_polynomial(const perm_csr *a, const void *linear, const perm_opts *opts,
                                       int64_t count, perm_result *results) {
    return capi::guarded([&] {
        capi::run_by_size(count, results, "coefficients",
                          [&] { return std::make_unique<PolynomialTask>(a, linear, opts); });
    });
}
