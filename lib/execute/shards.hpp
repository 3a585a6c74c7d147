// A plan's work in numbered shards, which anyone may run anywhere, in any order and more than once: what they
// come to, put together, has the bits of an execution in one go.
#pragma once

#include "lib/plan/plan.hpp"
#include "lib/run/outcome.hpp"
#include "lib/run/piece_store.hpp"
#include "lib/run/task_identity.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace libperm {

struct ShardCount {
    std::int64_t count = 1;
    double seconds = 0; // that one takes, on one thread or GPU, as predicted
};
// Follows from the plan alone.
ShardCount shards_of(const Plan &plan);

// What shard `number` comes to, with what it is of, as bytes that are the same on every machine. Throws
// Error.
std::string run_shard(const Plan &plan, const Values &values, std::int64_t number, RunControl &control);

// Of all shards, each there once or more often. Throws Error: PERM_BAD_ARGUMENT, with the text naming the
// first that is missing, damaged, or of another plan or other values.
Outcome combine(const Plan &plan, const Values &values, std::span<const std::string_view> partials,
                RunControl &control);

// 32 hexadecimal digits.
std::string digest_of(const Values &values);

TaskIdentity identity_of(const Plan &plan, const Values &values);

} // namespace libperm
