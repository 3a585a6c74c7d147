// A plan in words, for a person or as JSON.
#pragma once

#include "lib/plan.hpp"

namespace libperm {

std::string explain_text(const Plan &plan);
std::string explain_json(const Plan &plan);

} // namespace libperm
