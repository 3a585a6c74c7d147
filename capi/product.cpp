// perm_compute_product (lib/low_rank/product_task).
#include "capi/boundary.hpp"
#include "capi/stopwatch.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/execute.hpp"
#include "lib/input/option_table.hpp"
#include "lib/low_rank/product_task.hpp"

#include <perm.h>

extern "C" perm_status perm_compute_product(const perm_factors *a, const perm_opts *opts,
                                            perm_result *result) {
    return capi::into(result, [&](perm_result &r) {
        capi::Stopwatch watch;
        const libperm::Options options = libperm::read_options(opts, libperm::Call::compute_product);
        libperm::RunControl control(options);
        libperm::with_threads(options.threads, [&] {
            const libperm::ProductTask task(a, options, control);
            r.seconds_check = watch.lap();
            libperm::Outcome outcome = libperm::run_kept(task, options, control);
            libperm::round_off(options, outcome);
            capi::fill(r, options, outcome, libperm::answer_of(outcome));
            r.n = task.n();
            r.nnz = task.entries();
            r.seconds_run = watch.lap();
        });
        r.seconds_total = r.seconds_check + r.seconds_run;
    });
}
