#include "lib/run/piece_store.hpp"

#include "lib/base/error.hpp"

#include <utility>

namespace libperm {
namespace {

[[noreturn]] void fail_contradiction() {
    throw Error(PERM_BAD_ARGUMENT, "the parts that are known are those of another plan or other values");
}

// Bytes in its maps: one node for its number, at worst one for its task.
std::int64_t bytes_of(const std::string &part) {
    constexpr std::int64_t nodes = 224;
    return nodes + static_cast<std::int64_t>(part.size());
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
    held_.grow(bytes_of(piece.part));
    Parts &parts = tasks_.try_emplace(piece.task, Parts{piece.pieces, {}}).first->second;
    if (parts.pieces != piece.pieces) fail_contradiction();
    const auto [place, is_new] = parts.known.try_emplace(piece.number, std::move(piece.part));
    if (is_new) return;
    held_.grow(-bytes_of(place->second));
    place->second = std::move(piece.part); // which is still there
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
    const auto end = tasks_.lower_bound(task);
    for (auto parts = first; parts != end; ++parts)
        for (const auto &[number, known] : parts->second.known) held_.grow(-bytes_of(known));
    tasks_.erase(first, end);
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
