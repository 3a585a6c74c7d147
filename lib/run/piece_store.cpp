#include "lib/run/piece_store.hpp"

#include "lib/base/error.hpp"

#include <utility>

namespace libperm {
namespace {

[[noreturn]] void fail_contradiction() {
    throw Error(PERM_BAD_ARGUMENT, "the parts that are known are those of another plan or other values");
}

} // namespace

std::uint64_t shard_of(const BlockTask &task, std::uint64_t pieces, std::uint64_t number,
                       std::uint64_t shards) {
    // Neither is above 2^32, the most pieces that a task is given.
    const std::uint64_t share = number * shards / pieces;
    return pieces >= shards ? share : (share + task.block) % shards;
}

void PieceStore::put(Piece piece) {
    const std::lock_guard lock(mutex_);
    Parts &parts = tasks_.try_emplace(piece.task, Parts{piece.pieces, {}}).first->second;
    if (parts.pieces != piece.pieces) fail_contradiction();
    parts.known.insert_or_assign(piece.number, std::move(piece.part));
}

std::optional<std::string> PieceStore::find(const BlockTask &task, std::uint64_t pieces,
                                            std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    const auto parts = tasks_.find(task);
    if (parts == tasks_.end()) return {};
    if (parts->second.pieces != pieces) fail_contradiction();
    const auto part = parts->second.known.find(number);
    return part == parts->second.known.end() ? std::nullopt : std::optional(part->second);
}

bool PieceStore::is_wanted(const BlockTask &task, std::uint64_t pieces, std::uint64_t number) const {
    return !only_ || shard_of(task, pieces, number, only_->count) == only_->number;
}

void PieceStore::keep(Piece piece) {
    const std::lock_guard lock(mutex_);
    put(std::move(piece));
    if (kept_) kept_();
}

void PieceStore::keep_block(BlockTask task, std::string part) {
    const std::lock_guard lock(mutex_);
    task.attempt = 0;
    const auto first = tasks_.lower_bound(task);
    task.attempt = whole_block;
    tasks_.erase(first, tasks_.lower_bound(task));
    keep({task, 1, 0, std::move(part)});
}

std::vector<Piece> PieceStore::pieces() const {
    const std::lock_guard lock(mutex_);
    std::vector<Piece> all;
    for (const auto &[task, parts] : tasks_)
        for (const auto &[number, part] : parts.known) all.push_back({task, parts.pieces, number, part});
    return all;
}

} // namespace libperm
