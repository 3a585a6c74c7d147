#include "lib/run/task.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"

namespace libperm {

std::string run_shard(const Task &task, std::int64_t number) {
    task.require_shards();
    const ShardCount shards = task.shards();
    const std::int64_t end = shards.more_may_follow ? std::int64_t{1} << 32 : shards.count;
    if (number < 0 || number >= end)
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("there is no shard {}: they are counted from 0 to {}", number, end - 1));
    const Shard shard{static_cast<std::uint64_t>(shards.count), static_cast<std::uint64_t>(number)};
    PieceStore store(&call().memory(), shard);
    task.run_shard(shard, store);
    call().finish();
    return bytes_of_part(task.identity(), shard.number, store);
}

} // namespace libperm
