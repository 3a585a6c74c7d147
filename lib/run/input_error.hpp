// The error that a result has from its block's values, which came with errors of their own.
#pragma once

#include "lib/run/outcome.hpp"
#include "preprocess/block.hpp"

namespace libperm {

// set_value for what was computed from the block's values.
void set_value_from(const Block &block, Outcome &outcome, double value, double error, std::int64_t exp2);

} // namespace libperm
