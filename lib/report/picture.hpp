// What a picture of a plan shows beyond its explanation: patterns, orders, and the frontier's width.
#pragma once

#include "lib/base/json.hpp"
#include "lib/plan/plan.hpp"

namespace libperm {

// The key "picture" of PERM_FORMAT_PICTURE (perm.h), without what it has in words.
Json picture_of(const Plan &plan);

} // namespace libperm
