// Numbers of matchings (lib/execute/matching_numbers).
#include "capi/boundary.hpp"
#include "capi/one_call.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/matching_numbers.hpp"
#include "lib/run/run_control.hpp"

#include <perm.h>

namespace {

void compute(const perm_csr *a, const perm_opts *opts, std::int64_t count, perm_result *results) {
    capi::Stopwatch watch;
    const libperm::Options options = libperm::read_options(opts, libperm::Call::matchings);
    libperm::RunControl control(options);
    const bool fractions = options.precision == libperm::Precision::exact; // else all are decimals
    libperm::with_threads(options.threads, [&] {
        const libperm::MatchingNumbers found = libperm::matching_numbers(a, options, count, control);
        const double seconds = watch.lap();
        for (std::int64_t k = 0; k < count; ++k) {
            perm_result filled = PERM_RESULT_INIT;
            const libperm::Outcome &number = found.numbers[static_cast<std::size_t>(k)];
            capi::fill(filled, found.plan, number, libperm::answer_of(number, fractions));
            filled.seconds_run = filled.seconds_total = seconds;
            capi::write(capi::result_at(results, k), filled);
        }
    });
    control.finish();
}

} // namespace

extern "C" perm_status perm_matchings(const perm_csr *a, const perm_opts *opts, int64_t count,
                                      perm_result *results) {
    return capi::guarded([&] {
        if (count < 1)
            throw libperm::Error(PERM_BAD_ARGUMENT,
                                 "there is one number of matchings at least, that with no edge");
        if (!results) capi::require_result(results);
        capi::ClearedOnFailure of_failure(results, count);
        compute(a, opts, count, results);
        of_failure.keep();
    });
}
