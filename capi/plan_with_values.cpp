#include "capi/plan_with_values.hpp"

#include "capi/one_call.hpp"
#include "capi/plan_execute.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/input/matrix.hpp"
#include "lib/saved/bytes.hpp"

#include <utility>

namespace capi {
namespace {

const perm_plan *executable(const perm_plan *plan, libperm::Call call) {
    require_executable(plan, call);
    return plan;
}

} // namespace

PlanWithValues::PlanWithValues(const perm_plan *plan, const void *values, libperm::Call call)
    : plan_(executable(plan, call)), values_(values) {}

PlanWithValues::PlanWithValues(TaskSource &source, const perm_opts *opts, libperm::Call call)
    : own_(load_plan(source, opts)),
      plan_(executable(own_.get(), call)),
      given_(std::move(source.values)),
      values_(given_.data()) {
    const libperm::InputPattern &input = plan_->plan.input;
    if (!given_.are(libperm::values_given(input), input.value_type))
        throw libperm::Error(PERM_BAD_ARGUMENT,
                             "the saved task has not the values of its plan's matrix: load a plan that was "
                             "saved alone with perm_plan_load, and make a task of it with values");
}

std::string PlanWithValues::difference(const perm_csr &a) const {
    const libperm::InputPattern &own = plan_->plan.input, input = libperm::read_pattern(&a);
    if (const char *what = libperm::difference(own, input))
        return libperm::formatted("another matrix: the {} differ", what);
    const auto numbers = [&](const void *values) {
        return libperm::written(GivenNumbers(values, libperm::values_given(own), own.value_type));
    };
    const libperm::GivenValues values(input, a);
    return numbers(values.data()) == numbers(values_) ? "" : "other values";
}

TaskSource PlanWithValues::source(std::string_view kind) const {
    const libperm::InputPattern &input = plan_->plan.input;
    TaskSource source(plan_->plan);
    source.kind = kind;
    source.values = GivenNumbers(values_, libperm::values_given(input), input.value_type);
    return source;
}

} // namespace capi
