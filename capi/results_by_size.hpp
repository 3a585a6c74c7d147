// Results by a number of entries, from 0 on: numbers of matchings, coefficients of polynomials.
#pragma once

#include "capi/task.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/outcome.hpp"

#include <perm.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace capi {

// Into the answer's results what find(control) comes to, in an arena of the options' threads.
void answer_by_size(const perm_answer &answer, const libperm::Plan &made, const libperm::Options &options,
                    const std::function<std::vector<libperm::Outcome>()> &find);

// make() at once: `count` results, which are left cleared by what is thrown. `what` there are:
// "coefficients".
void run_by_size(std::int64_t count, perm_result *results, const char *what,
                 const std::function<std::unique_ptr<perm_task>()> &make);

} // namespace capi
