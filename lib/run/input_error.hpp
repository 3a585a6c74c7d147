// The error that a result has from its block's values, which came with errors of their own.
#pragma once

#include "lib/number/ball.hpp"
#include "preprocess/block.hpp"

namespace libperm {

// What was computed from the block's values, `value` times 2^exp2 within `error` times 2^exp2, as the
// permanent of what these values stand for.
Ball ball_from(const Block &block, double value, double error, std::int64_t exp2);

} // namespace libperm
