#include "lib/estimates/request.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"

#include <string_view>

namespace libperm {
namespace {

double probability(const char *name, double given, double otherwise) {
    if (given == 0) return otherwise;
    if (!(given > 0 && given < 1))
        throw Error(PERM_BAD_OPTION, formatted("{} is {}: it must be above 0 and below 1", name, given));
    return given;
}

EstimateMethod method_named(const char *name) {
    const std::string_view method = name ? name : "auto";
    if (method == "auto") return EstimateMethod::automatic;
    if (method == "nesting") return EstimateMethod::nesting;
    if (method == "rejection") return EstimateMethod::rejection;
    if (method == "glynn") return EstimateMethod::glynn;
    throw Error(PERM_BAD_OPTION,
                formatted("unknown method '{}': auto, nesting, rejection (of nonnegative matrices) or glynn",
                          method));
}

} // namespace

EstimateRequest read_request(const perm_estimate_opts *opts) {
    if (!opts) return {};
    if (opts->struct_size < sizeof(perm_estimate_opts))
        throw Error(PERM_BAD_ARGUMENT,
                    "perm_estimate_opts.struct_size is too small: start from PERM_ESTIMATE_OPTS_INIT");
    const EstimateRequest defaults;
    EstimateRequest request;
    request.epsilon = probability("epsilon", opts->epsilon, defaults.epsilon);
    request.delta = probability("delta", opts->delta, defaults.delta);
    request.seed = opts->seed;
    request.method = method_named(opts->method);
    if (opts->samples < 0)
        throw Error(PERM_BAD_OPTION,
                    formatted("samples is {}: 0 (as many as it takes) or more", opts->samples));
    request.samples = opts->samples;
    return request;
}

} // namespace libperm
