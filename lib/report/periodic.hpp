// A periodic plan and its generating function in words, for a person or as JSON.
#pragma once

#include "lib/periodic/answers/generating_function.hpp"

#include <string>

namespace libperm {

std::string periodic_text(const PeriodicPlan &plan);
std::string periodic_json(const PeriodicPlan &plan);

std::string generating_function_text(const GeneratingFunction &f);
std::string generating_function_json(const GeneratingFunction &f);

} // namespace libperm
