// What the shards of a task came to, as bytes that are the same on every machine, and all of them put
// together again.
#pragma once

#include "lib/run/piece_store.hpp"
#include "lib/run/task_identity.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace libperm {

struct ShardCount {
    std::int64_t count = 1;
    double seconds = 0;           // that one takes, on one thread or GPU, as predicted
    bool more_may_follow = false; // where these prove too few
};

std::string bytes_of_part(const TaskIdentity &task, std::uint64_t shard, const PieceStore &store);

// Puts the pieces of all parts, those of each of the shards there once or more often, into the store. Throws
// Error: PERM_BAD_ARGUMENT, with the text naming the first that is missing, damaged or of another task.
void take_parts(const TaskIdentity &task, const ShardCount &shards, std::span<const std::string_view> parts,
                PieceStore &store);

} // namespace libperm
