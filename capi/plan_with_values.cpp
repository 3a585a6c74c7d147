#include "capi/plan_with_values.hpp"

#include "capi/one_call.hpp"
#include "capi/plan_execute.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/input/matrix.hpp"
#include "lib/saved/bytes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace capi {
namespace {

const perm_plan *executable(const perm_plan *plan, libperm::Call call) {
    require_executable(plan, call);
    return plan;
}

// Of a batch alone there are others.
ValuesShape shape_of(const TaskSource &source) {
    if (source.kind != libperm::TaskIdentity::batch) return {};
    return {source.stride, source.count};
}

} // namespace

PlanWithValues::PlanWithValues(const perm_plan *plan, const void *values, libperm::Call call,
                               const ValuesShape &shape)
    : plan_(executable(plan, call)), values_(values), shape_(shape) {}

PlanWithValues::PlanWithValues(TaskSource &source, const perm_opts *opts, libperm::Call call)
    : own_(load_plan(source, opts)),
      plan_(executable(own_.get(), call)),
      given_(std::move(source.values)),
      values_(given_.data()),
      shape_(shape_of(source)) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    const libperm::InputPattern &input = plan_->plan.input;
    const bool is_shape = 0 <= shape_.count && shape_.count <= most &&
                          (shape_.stride == 0 || shape_.stride == libperm::values_given(input));
    if (!is_shape || !given_.are(matrices_held() * libperm::values_given(input), input.value_type))
        throw libperm::Error(PERM_BAD_ARGUMENT,
                             "the saved task has not the values of its plan's matrix: load a plan that was "
                             "saved alone with perm_plan_load, and make a task of it with values");
}

std::int64_t PlanWithValues::matrices_held() const {
    return shape_.stride == 0 ? std::min<std::int64_t>(shape_.count, 1) : shape_.count;
}

const char *PlanWithValues::matrix(std::int64_t k) const {
    const std::size_t size = libperm::size_of(plan_->plan.input.value_type);
    return static_cast<const char *>(values_) + k * shape_.stride * static_cast<std::int64_t>(size);
}

std::string PlanWithValues::difference(const perm_csr &a) const {
    const libperm::InputPattern &own = plan_->plan.input,
                                input = libperm::read_pattern(&a, plan_->plan.options.function);
    if (const char *what = libperm::difference(own, input))
        return libperm::formatted("another matrix: the {} differ", what);
    const auto numbers = [&](const void *values) {
        return libperm::written(GivenNumbers(values, libperm::values_given(own), own.value_type));
    };
    const libperm::GivenValues values(input, a);
    const std::string theirs = numbers(values.data());
    for (std::int64_t k = 0; k < matrices_held(); ++k)
        if (numbers(matrix(k)) == theirs) return "";
    return "other values";
}

TaskSource PlanWithValues::source(std::string_view kind) const {
    const libperm::InputPattern &input = plan_->plan.input;
    const std::int64_t entries = libperm::values_given(input);
    const auto bytes = static_cast<std::size_t>(entries) * libperm::size_of(input.value_type);
    std::vector<char> all;
    const bool are_given = values_ && input.value_type != PERM_VALUE_PATTERN;
    for (std::int64_t k = 0; are_given && k < matrices_held(); ++k)
        all.insert(all.end(), matrix(k), matrix(k) + bytes);
    TaskSource source(plan_->plan);
    source.kind = kind;
    source.stride = shape_.stride == 0 ? 0 : entries;
    source.count = shape_.count;
    source.values = GivenNumbers(all.data(), matrices_held() * entries, input.value_type);
    return source;
}

} // namespace capi
