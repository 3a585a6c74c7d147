// perm_sub_permanents, perm_gradients: of dense matrices, without a plan.
#include "capi/boundary.hpp"
#include "capi/one_call.hpp"
#include "lib/base/error.hpp"
#include "lib/glynn/calls/request.hpp"
#include "lib/glynn/minors/dense_minors.hpp"

#include <perm.h>

#include <algorithm>
#include <vector>

using capi::guarded;

namespace {

// Whether nothing is asked for but threads, and limits that are ample.
bool are_usual(const perm_opts *opts) {
    if (!opts) return true;
    if (opts->struct_size != sizeof(perm_opts) || opts->cancel || opts->progress) return false;
    const auto request = libperm::small_request(opts);
    return request && request->function == libperm::MatrixFunction::permanent &&
           request->precision == libperm::Precision::automatic && opts->tolerance == 0 && opts->seed == 0 &&
           !opts->cache_dir && opts->cache_limit_bytes == 0;
}

// Sums that one thread has made before the machine's limits are looked up in files.
bool is_short(const perm_dense *a, const perm_opts *opts) {
    constexpr std::int64_t order = 13;
    return are_usual(opts) && a && a->struct_size >= sizeof(perm_dense) && a->count == 1 &&
           !a->row_multiplicity && !a->col_multiplicity && a->n_rows <= order && a->n_cols <= order;
}

template <class Work>
perm_status computed(libperm::ApiCall call, const perm_opts *opts, bool is_short, const Work &work) {
    return guarded([&] {
        const libperm::Options options = is_short ? libperm::Options() : libperm::read_options(opts, call);
        const libperm::CurrentCall current(options);
        work(options);
        libperm::call().finish();
    });
}

void copy(const std::vector<double> &from, double *to) {
    if (to) std::copy(from.begin(), from.end(), to);
}

// At once, or, with a checkpoint, from there on.
void run(const libperm::DenseMinors &minors, const libperm::Options &options,
         const libperm::MinorPlaces &to) {
    if (options.checkpoint.empty()) return minors.run(options, to);
    if (!to.numbers && minors.numbers() > 0)
        throw libperm::Error(PERM_BAD_ARGUMENT, "the place for the minors is a null pointer");
    const libperm::Minors found = libperm::run_kept(libperm::MinorsTask(minors, options), options);
    copy(found.numbers, to.numbers);
    copy(found.bounds, to.bounds);
    copy(found.permanents, to.permanents);
    copy(found.permanent_bounds, to.permanent_bounds);
}

} // namespace

extern "C" {

perm_status perm_sub_permanents(const perm_dense *a, const perm_opts *opts, void *sub_permanents,
                                double *error_bounds) {
    return computed(
        libperm::ApiCall::sub_permanents, opts, is_short(a, opts), [&](const libperm::Options &options) {
            run(libperm::SubPermanents(a), options, {static_cast<double *>(sub_permanents), error_bounds});
        });
}

perm_status perm_gradients(const perm_dense *a, const perm_opts *opts, void *gradients, double *error_bounds,
                           void *permanents, double *permanent_bounds) {
    return computed(libperm::ApiCall::gradients, opts, is_short(a, opts),
                    [&](const libperm::Options &options) {
                        run(libperm::DenseGradients(a), options,
                            {static_cast<double *>(gradients), error_bounds,
                             static_cast<double *>(permanents), permanent_bounds});
                    });
}

} // extern "C"
