// perm_estimate (lib/estimates).
#include "capi/boundary.hpp"
#include "capi/interval_beside.hpp"
#include "capi/one_call.hpp"
#include "capi/stopwatch.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/estimates/matrix_estimate.hpp"

#include <perm.h>

namespace {

constexpr perm_estimated no_estimate = PERM_ESTIMATED_INIT;

void require_place(const perm_estimated *estimate) {
    if (!estimate) throw libperm::Error(PERM_BAD_ARGUMENT, "the place for the estimate is a null pointer");
    if (estimate->struct_size < sizeof(perm_estimated))
        throw libperm::Error(PERM_BAD_ARGUMENT,
                             "perm_estimated.struct_size is too small: start from PERM_ESTIMATED_INIT");
}

// Parts of one exponent.
void put_value(const libperm::MatrixEstimate &found, perm_estimated &estimate) {
    using libperm::Scaled;
    const Scaled &re = found.re, &im = found.im;
    estimate.re = to_double(re);
    estimate.im = to_double(im);
    const std::int64_t exp2 = im.mantissa == 0 || (re.mantissa != 0 && re.exp2 > im.exp2) ? re.exp2 : im.exp2;
    const auto mantissa = [exp2](const Scaled &x) {
        return x.mantissa == 0 || exp2 - x.exp2 > 1100
                   ? 0
                   : libperm::to_double(libperm::Scaled{x.mantissa, x.exp2 - exp2});
    };
    estimate.mantissa_re = mantissa(re);
    estimate.mantissa_im = mantissa(im);
    estimate.exp2 = exp2;
}

void put(const libperm::MatrixEstimate &found, perm_estimated &estimate) {
    put_value(found, estimate);
    estimate.lower_mantissa = found.lower.mantissa;
    estimate.lower_exp2 = found.lower.exp2;
    estimate.upper_mantissa = found.upper.mantissa;
    estimate.upper_exp2 = found.upper.exp2;
    estimate.error_mantissa = found.error.mantissa;
    estimate.error_exp2 = found.error.exp2;
    estimate.epsilon = found.epsilon;
    estimate.delta = found.delta;
    estimate.exact = found.exact ? 1 : 0;
    estimate.additive = found.additive ? 1 : 0;
    estimate.samples = found.samples;
    estimate.accepted = found.accepted;
    estimate.method = found.method;
    estimate.blocks = found.blocks;
    estimate.blocks_exact = found.blocks_exact;
    estimate.seconds_plan = found.seconds_plan;
}

libperm::MatrixEstimate estimated(const perm_csr *a, const libperm::Options &options,
                                  const libperm::EstimateRequest &request) {
    libperm::RunControl control(options);
    libperm::InputPattern input = capi::pattern_for(control, a);
    libperm::Values values = capi::values_for(control, input, libperm::GivenValues(input, *a).data());
    libperm::simplify(input, values);
    libperm::MatrixEstimate found;
    libperm::with_threads(
        options.threads, [&] { found = libperm::estimate_matrix(input, values, options, request, control); });
    control.finish();
    return found;
}

libperm::MatrixEstimate estimated(const perm_csr *a, const perm_opts *opts,
                                  const perm_estimate_opts *estimate_opts) {
    const libperm::Options options = capi::options_for_here(opts);
    const libperm::EstimateRequest request = libperm::read_request(estimate_opts);
    libperm::MatrixEstimate found;
    const auto work = [&] { found = estimated(a, options, request); };
    capi::telling_interval(options, work, a);
    return found;
}

} // namespace

extern "C" perm_status perm_estimate(const perm_csr *a, const perm_opts *opts,
                                     const perm_estimate_opts *estimate_opts, perm_estimated *estimate) {
    return capi::guarded([&] {
        require_place(estimate);
        *estimate = no_estimate;
        capi::Stopwatch watch;
        put(estimated(a, opts, estimate_opts), *estimate);
        estimate->seconds_total = watch.lap();
    });
}
