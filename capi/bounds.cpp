// perm_bounds (lib/bounds).
#include "capi/boundary.hpp"
#include "capi/one_call.hpp"
#include "capi/stopwatch.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/matrix_bounds.hpp"

#include <perm.h>

using capi::guarded;

namespace {

constexpr perm_interval no_interval = PERM_INTERVAL_INIT;

void require_place(const perm_interval *bounds) {
    if (!bounds) throw libperm::Error(PERM_BAD_ARGUMENT, "the place for the bounds is a null pointer");
    if (bounds->struct_size < sizeof(perm_interval))
        throw libperm::Error(PERM_BAD_ARGUMENT,
                             "perm_interval.struct_size is too small: start from PERM_INTERVAL_INIT");
}

void put(const libperm::MatrixBounds &found, perm_interval &bounds) {
    const libperm::Bounded &b = found.bounded;
    bounds.lower_mantissa = b.interval.lower.mantissa;
    bounds.lower_exp2 = b.interval.lower.exp2;
    bounds.upper_mantissa = b.interval.upper.mantissa;
    bounds.upper_exp2 = b.interval.upper.exp2;
    bounds.lower_method = b.lower_method;
    bounds.upper_method = b.upper_method;
    bounds.exact = b.interval.is_point();
    bounds.of_magnitude = found.of_magnitude;
    bounds.blocks = found.blocks;
    bounds.blocks_exact = found.blocks_exact;
}

} // namespace

extern "C" {

perm_status perm_bounds(const perm_csr *a, const perm_opts *opts, perm_interval *bounds) {
    return guarded([&] {
        require_place(bounds);
        *bounds = no_interval;
        capi::Stopwatch watch;
        const libperm::Options options = libperm::read_options(opts, libperm::ApiCall::bounds);
        const libperm::CurrentCall current(options);
        libperm::InputPattern input = capi::pattern_for(a);
        libperm::Values values = capi::values_for(input, *a);
        libperm::simplify(input, values);
        libperm::with_threads(options.threads,
                              [&] { put(libperm::bounds_of(input, values, options), *bounds); });
        libperm::call().finish();
        bounds->seconds_total = watch.lap();
    });
}

} // extern "C"
