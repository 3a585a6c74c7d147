// A plan in words, for a person or as JSON.
#pragma once

#include "lib/plan/plan.hpp"

namespace libperm {

std::string explain_text(const Plan &plan);
std::string explain_json(const Plan &plan);
std::string picture_json(const Plan &plan); // the same, and what a picture shows besides

} // namespace libperm
