// A plan as the library has it, for what the C API does not show.
#pragma once

#include "lib/plan/plan.hpp"
#include "lib/run/call.hpp"

#include <perm.hpp>

inline libperm::Plan plan_in_memory(const perm_csr &view, const perm_opts &opts) {
    const libperm::Options options = libperm::read_options(&opts);
    libperm::CurrentCall control(options);
    libperm::InputPattern input = libperm::read_pattern(&view);
    const libperm::Values values = libperm::read_values(input, view.values);
    return libperm::make_plan(std::move(input), options, values);
}
inline libperm::Plan plan_in_memory(const perm::Csr &a, const perm_opts &opts) {
    return plan_in_memory(a.view(), opts);
}
