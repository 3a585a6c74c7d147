#include "lib/glynn/calls/request.hpp"

#include "jit/lanes/sign_sum.hpp"
#include "lib/base/error.hpp"
#include "lib/bjorklund/plan.hpp"
#include "lib/glynn/graphs/graph_sum.hpp"
#include "lib/glynn/multiplicities/line_classes.hpp"
#include "lib/glynn/small_matrix.hpp"
#include "lib/plan/plan.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace libperm {
namespace {

// Limits from which on this road keeps within them, whatever it computes.
constexpr double ample_seconds = 1;
constexpr std::int64_t ample_bytes = 1 << 20;

constexpr std::int64_t any_density_order = 8; // up to which the sum is sooner done than the pattern looked at

// Most are null: those that are not are compared elsewhere, so that asking is two instructions.
[[gnu::noinline]] bool is_either(const char *given, std::string_view a, std::string_view b) {
    return given == a || given == b;
}
inline bool is_one_of(const char *given, std::string_view a, std::string_view b) {
    return !given || is_either(given, a, b);
}

bool is_usual(const perm_opts &o) {
    return o.struct_size == sizeof(perm_opts) && is_one_of(o.engine, "auto", "glynn") &&
           is_one_of(o.device, "auto", "cpu") && o.tolerance >= 0 && std::isfinite(o.tolerance) &&
           o.threads >= 0 && o.threads <= 4096 && o.reserved == 0 &&
           (o.memory_limit_bytes == 0 || o.memory_limit_bytes >= ample_bytes) &&
           (o.time_limit_seconds == 0 || o.time_limit_seconds >= ample_seconds) &&
           is_one_of(o.without, "", "") && is_one_of(o.decompose, "auto", "auto") &&
           is_one_of(o.chunks, "ceg", "ceg") && o.cache_limit_bytes >= 0 && is_one_of(o.checkpoint, "", "") &&
           o.checkpoint_seconds == 0 && o.gpus == 0 && o.reserved2 == 0 && !o.machine;
}

// None: a name of none.
std::optional<MatrixFunction> function_of(const perm_opts &o) {
    if (!o.function) return MatrixFunction::permanent;
    for (const auto function :
         {MatrixFunction::permanent, MatrixFunction::hafnian, MatrixFunction::loop_hafnian})
        if (o.function == std::string_view(function_name(function))) return function;
    return {};
}

} // namespace

std::optional<SmallRequest> small_request(const perm_opts *opts) {
    SmallRequest request;
    if (!opts) return request;
    if (!is_usual(*opts)) return {};
    const auto function = function_of(*opts);
    if (!function) return {};
    request.function = *function;
    // Glynn's sum is of permanents; who names Björklund's engine is given that, as it is planned.
    if (request.function != MatrixFunction::permanent && !is_one_of(opts->engine, "auto", "auto")) return {};
    request.watch.cancel = opts->cancel;
    request.watch.cancel_user = opts->cancel_user;
    request.watch.progress = opts->progress;
    request.watch.progress_user = opts->progress_user;
    if (opts->time_limit_seconds > 0) request.watch.stop_seconds = opts->time_limit_seconds;
    if (request.watch.is_cancelled()) throw Error(PERM_CANCELLED, "cancelled by the caller");
    if (opts->tolerance > 0) request.tolerance = opts->tolerance;
    request.threads = opts->threads;
    if (is_one_of(opts->precision, "auto", "auto")) return request;
    if (opts->precision == std::string_view("double"))
        request.precision = Precision::double_;
    else if (opts->precision == std::string_view("exact"))
        request.precision = Precision::exact;
    else
        return {};
    return request;
}

namespace {

bool is_usual(const Options &o, bool is_integer) {
    return !o.names_engine() && o.modulus == 0 && o.reckoned_gpus == 0 &&
           (o.precision == Precision::automatic || o.precision == Precision::double_ ||
            (o.precision == Precision::exact && is_integer)) &&
           o.memory_limit >= ample_bytes && o.refuse_seconds >= ample_seconds && o.passes == Passes() &&
           !o.decompose_as_published && !o.equal_chunks && o.checkpoint.empty();
}

bool is_full(const Pattern &a) { return a.nnz() == std::int64_t{a.rows} * a.cols; }

std::optional<StraightRoad> sum_without_plan(const Plan &plan) {
    const Options &o = plan.options;
    const InputPattern &input = plan.input;
    const bool is_integer = input.value_type == PERM_VALUE_I64 || input.value_type == PERM_VALUE_PATTERN;
    if (!is_usual(o, is_integer)) return {};
    if (input.pattern.one_sided) {
        if (plan.n() > most_small_order || input.multiplied || input.value_type == PERM_VALUE_TEXT ||
            !is_small_and_dense(input.pattern) || (is_integer && o.precision == Precision::double_))
            return {};
        return StraightRoad{engine_for(Goal::dense_graph), BjorklundPlan(input.pattern).terms(), "terms"};
    }
    const Engine glynn = engine_for(Goal::dense);
    if (input.repeats) {
        const bool is_for_doubles = o.precision != Precision::exact && (input.value_type == PERM_VALUE_F64 ||
                                                                        input.value_type == PERM_VALUE_C128);
        const auto terms = is_for_doubles ? terms_of_line_classes(input) : std::nullopt;
        return terms ? std::optional(StraightRoad{glynn, *terms, "terms"}) : std::nullopt;
    }
    const bool is_for_signs = input.free_lines() == 0 && input.value_type != PERM_VALUE_TEXT &&
                              is_small_and_dense(plan.n(), input.pattern.nnz()) &&
                              (plan.n() < least_order_compared || plan.reductions.merged == 0);
    if (!is_for_signs) return {};
    return StraightRoad{glynn, std::ldexp(1.0, std::max(plan.n(), least_sign_order) - 1), "subsets"};
}

bool is_read_as_given(const InputPattern &input) {
    if (input.pattern.one_sided)
        return input.written && !input.multiplied && !input.written->row_weights && !input.written->repeats &&
               input.written->source.empty() && is_full(input.written->pattern);
    return !input.repeats && input.source.empty() && !input.written && is_full(input.pattern);
}

} // namespace

std::optional<StraightRoad> straight_road(const Plan &plan) {
    return plan.options.device == Device::gpu ? std::nullopt : sum_without_plan(plan);
}

// Where a GPU is named, too: the sum is done before a GPU has a matrix and has told its permanent.
std::optional<StraightRoad> executed_straight(const Plan &plan) {
    const bool is_of_gpu = plan.options.device == Device::gpu && plan.input.pattern.one_sided;
    if (plan.input.value_type == PERM_VALUE_PATTERN || plan.refusal != PERM_OK || is_of_gpu ||
        !is_read_as_given(plan.input))
        return {};
    return sum_without_plan(plan);
}

bool is_small_and_dense(std::int64_t n, std::int64_t nnz) {
    return n >= 1 && n <= most_small_order && (n <= any_density_order || 10 * nnz >= 6 * n * n);
}

} // namespace libperm
