// The parts of sums that are known. An engine's work falls into pieces, numbered by the plan alone, that know
// nothing of each other; an execution that is given a store takes the parts that are there, and leaves those
// it computes. So work is shared out, put together, stopped and taken up again, and has the same bits.
#pragma once

#include "preprocess/limits.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace libperm {

// An engine's run on one block.
struct BlockTask {
    std::uint64_t plan = 0;    // its digest: there may be runs of others, in numbers that tell more
    std::uint64_t block = 0;   // to be computed, in the order of the decomposition
    std::uint32_t attempt = 0; // at the block
    friend auto operator<=>(const BlockTask &, const BlockTask &) = default;
};
constexpr std::uint32_t whole_block = 0xffffffff; // an attempt: what the block came to in the end, one piece

constexpr double small_block = 0.05; // seconds of one thread: blocks that take less are one piece

struct Piece {
    BlockTask task;
    std::uint64_t pieces = 1, number = 0; // of the task: all of them, and this
    std::string part;                     // its sum's bytes
};

// Shard `number` of `count`.
struct Shard {
    std::uint64_t count = 1, number = 0;
};

// The one that a piece is in: all pieces of a large block are in equal numbers in all shards, in order; small
// blocks go round.
std::uint64_t shard_of(const BlockTask &task, std::uint64_t pieces, std::uint64_t number,
                       std::uint64_t shards);

class PieceStore {
  public:
    // All that is missing is computed. `account`: of the parts, outlives the store. `kept`: called after each
    // part that was, by any thread, with the lock.
    explicit PieceStore(MemoryAccount *account = nullptr, std::function<void()> kept = {})
        : kept_(std::move(kept)), held_(account) {}

    // Only this shard's pieces are; results are of no use but for their parts.
    PieceStore(MemoryAccount *account, const Shard &only) : only_(only), held_(account) {}

    void put(Piece piece); // known from before. Throws Error where those that are known contradict it
    std::optional<std::string> find(const BlockTask &task, std::uint64_t pieces, std::uint64_t number) const;

    bool is_wanted(const BlockTask &task, std::uint64_t pieces, std::uint64_t number) const;
    bool is_of_one_shard() const { return only_.has_value(); }
    double share() const { return only_ ? 1 / static_cast<double>(only_->count) : 1; } // of the work

    void keep(Piece piece);                            // just computed
    void keep_block(BlockTask task, std::string part); // and its own pieces are forgotten

    // Parts come in the order of tasks and numbers; this may be called within `kept` as well.
    std::vector<Piece> pieces() const;

    // Whether a stop may wait until the pieces under way are done.
    bool spares_pieces() const { return static_cast<bool>(kept_); }

  private:
    struct Parts {
        std::uint64_t pieces = 1;
        std::map<std::uint64_t, std::string> known;
    };

    mutable std::recursive_mutex mutex_;
    std::map<BlockTask, Parts> tasks_;
    std::optional<Shard> only_;
    std::function<void()> kept_;
    Charge held_;
};

// Where an engine's parts are; without a store it computes them all.
struct PieceScope {
    PieceStore *store = nullptr;
    BlockTask task;

    double share() const { return store ? store->share() : 1; } // of the work
};

} // namespace libperm
