#include "lib/run/parts.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/seal.hpp"
#include "lib/run/piece_fields.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace libperm {
namespace {

constexpr Seal part_seal{"PERMPART", 3, "the partial result",
                         "perm_task_run_shard, perm_plan_run_shard or perm_estimate_run_shard",
                         "run its shard again with this one"};

struct Part {
    std::string kind;
    std::vector<std::string> digests; // of the task's traits
    std::uint64_t shard = 0;
    std::vector<Piece> pieces;

    template <class Archive> void serialize(Archive &ar) { ar(kind, digests, shard, pieces); }
};

Part read_part(std::string_view bytes, std::size_t index) {
    try {
        return content_of<Part>(part_seal, bytes);
    } catch (const Error &error) {
        throw Error(error.status(), formatted("partial result {}: {}", index, error.what()));
    }
}

void require_of(const TaskIdentity &task, const Part &part, std::size_t index) {
    const std::string_view other = task.difference(part.kind, part.digests);
    if (!other.empty())
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("partial result {} is of {}: leave it out, and run the shards that are missing "
                              "with what is combined here",
                              index, other));
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

std::string bytes_of_part(const TaskIdentity &task, std::uint64_t shard, const PieceStore &store) {
    return sealed(part_seal, written(Part{std::string(task.kind), task.digests(), shard, store.pieces()}));
}

void take_parts(const TaskIdentity &task, const ShardCount &shards, std::span<const std::string_view> parts,
                PieceStore &store) {
    std::vector<char> is_there(static_cast<std::size_t>(shards.count), 0);
    for (std::size_t k = 0; k < parts.size(); ++k) {
        Part part = read_part(parts[k], k);
        require_of(task, part, k);
        if (part.shard < is_there.size())
            is_there[part.shard] = 1;
        else if (!shards.more_may_follow)
            throw Error(PERM_BAD_ARGUMENT,
                        formatted("partial result {} is of shard {}, and there are {}: leave it out", k,
                                  part.shard, shards.count));
        for (Piece &piece : part.pieces) store.put(std::move(piece));
    }
    require_all(is_there);
}

} // namespace libperm
