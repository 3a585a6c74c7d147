// The tape of a pattern's plan, made for a CPU.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/run/call.hpp"
#include "lib/tape/tape_run.hpp"

#include <cstdint>
#include <memory>

inline std::unique_ptr<const libperm::TapePlan> tape_of(const libperm::InputPattern &input) {
    using namespace libperm;
    Options options;
    options.device = Device::cpu;
    options.memory_limit = std::int64_t{1} << 30;
    CurrentCall control(options);
    Plan plan = make_plan(input, options, {});
    TapePlan::order(plan);
    return TapePlan::of(plan);
}
