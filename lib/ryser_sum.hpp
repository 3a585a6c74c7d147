// What both ways to sum Nijenhuis and Wilf's formula share.
#pragma once

#include "lib/double_double.hpp"
#include "lib/outcome.hpp"
#include "lib/run_control.hpp"
#include "preprocess/block.hpp"
#include "preprocess/parallel.hpp"

#include <vector>

namespace libperm {

struct Partial {
    DoubleDouble sum;
    double absolute = 0; // the same, of the terms' absolute values
};

// In the order of the shards, whoever ran them.
template <class Sum> Partial add_shards(const Sum &sum, std::uint64_t shards, RunControl &control) {
    std::vector<Partial> partials(shards);
    if (shards == 1)
        partials[0] = sum.run_shard(0, control);
    else
        parallel_for(shards, [&](std::uint64_t s) { partials[s] = sum.run_shard(s, control); });
    Partial total;
    for (const Partial &partial : partials) {
        total.sum = total.sum + partial.sum;
        total.absolute += partial.absolute;
    }
    return total;
}

// set_value for what was computed from the block's values, with the errors that these came with.
void set_value_from(const Block &block, Outcome &outcome, double value, double error, std::int64_t exp2);

} // namespace libperm
