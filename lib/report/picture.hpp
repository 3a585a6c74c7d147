// What a picture of a plan shows beyond its explanation: patterns, orders, and the frontier's width.
#pragma once

#include "lib/plan/plan.hpp"

#include <nlohmann/json_fwd.hpp>

namespace libperm {

// The key "picture" of PERM_FORMAT_PICTURE (perm.h), without what it has in words.
nlohmann::ordered_json picture_of(const Plan &plan);

} // namespace libperm
