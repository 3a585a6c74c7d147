#include "lib/run/task_parts.hpp"

#include "jit/text/text.hpp"
#include "lib/run/part.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace libperm {
namespace {

Part read_part(const TaskIdentity &task, std::string_view bytes) {
    Part part = content_of<Part>(part_seal, bytes);
    const std::string_view other = part.shards.empty() ? "" : task.difference(part.kind, part.digests);
    if (!other.empty())
        throw Error(PERM_BAD_ARGUMENT, formatted("it is of {}: leave it out, and run the shards that are "
                                                 "missing with what is combined here",
                                                 other));
    return part;
}

void take(const Part::OfShard &shard, const ShardCount &shards, std::vector<char> &is_there,
          PieceStore &store) {
    if (shard.number < is_there.size())
        is_there[shard.number] = 1;
    else if (!shards.more_may_follow)
        throw Error(PERM_BAD_ARGUMENT, formatted("it is of shard {}, and there are {}: leave it out",
                                                 shard.number, shards.count));
    try {
        for (Piece &piece : all_from<std::vector<Piece>>(shard.pieces, "a shard's pieces"))
            store.put(std::move(piece));
    } catch (const DamagedField &field) {
        fail_damaged(part_seal, field);
    }
}

void require_all(const std::vector<char> &is_there) {
    const auto missing = std::count(is_there.begin(), is_there.end(), 0);
    if (missing == 0) return;
    const auto first = std::find(is_there.begin(), is_there.end(), 0) - is_there.begin();
    throw Error(PERM_BAD_ARGUMENT,
                formatted("{} of {} shards are missing, the first is {}: run them and combine all", missing,
                          is_there.size(), first));
}

} // namespace

ShardCount shards_of(double serial_seconds, double pieces, double least_seconds) {
    ShardCount shards;
    shards.count = static_cast<std::int64_t>(
        std::clamp(std::floor(serial_seconds / least_seconds), 1.0, std::max(pieces, 1.0)));
    shards.seconds = serial_seconds / static_cast<double>(shards.count);
    return shards;
}

std::string bytes_of_part(const TaskIdentity &task, std::uint64_t shard, const PieceStore &store) {
    Part part;
    part.kind = task.kind;
    part.digests = task.digests();
    part.shards.push_back({shard, written(store.pieces())});
    return sealed(part_seal, written(part));
}

void take_parts(const TaskIdentity &task, const ShardCount &shards, std::span<const std::string_view> parts,
                PieceStore &store) {
    std::vector<char> is_there(static_cast<std::size_t>(shards.count), 0);
    for (std::size_t k = 0; k < parts.size(); ++k) {
        try {
            const Part part = read_part(task, parts[k]);
            for (const Part::OfShard &shard : part.shards) take(shard, shards, is_there, store);
        } catch (const Error &error) {
            throw Error(error.status(), formatted("partial result {}: {}", k, error.what()));
        }
    }
    require_all(is_there);
}

} // namespace libperm
