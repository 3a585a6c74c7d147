// A plan in words, for a person or as JSON.
#pragma once

#include "lib/execute/plan_gradient.hpp"
#include "lib/plan/plan.hpp"

namespace libperm {

// `gradient`: of the plan's derivatives; `tape`: which its executions go along, may be null.
std::string explain_text(const Plan &plan, const GradientForecast &gradient = {},
                         const TapePlan *tape = nullptr);
std::string explain_json(const Plan &plan, const GradientForecast &gradient = {},
                         const TapePlan *tape = nullptr);
// The same, and what a picture shows besides.
std::string picture_json(const Plan &plan, const GradientForecast &gradient = {},
                         const TapePlan *tape = nullptr);

} // namespace libperm
