// Whatever is computed in numbered pieces, as all that is done with it sees it: with shards, by several
// processes, with a checkpoint. Each kind says what it is of, how it is divided and how it is run; the rest
// is written here, once.
#pragma once

#include "lib/run/call.hpp"
#include "lib/run/kept_pieces.hpp"
#include "lib/run/parts.hpp"
#include "lib/run/piece_store.hpp"
#include "lib/run/task_identity.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace libperm {

class Task {
  public:
    Task() = default;
    Task(const Task &) = delete;
    Task &operator=(const Task &) = delete;
    virtual ~Task() = default;

    virtual TaskIdentity identity() const = 0;
    virtual ShardCount shards() const = 0; // follows from the task alone
    virtual KeptAbout about() const = 0;
    virtual std::string plan() const { return {}; } // as bytes, of tasks that another machine plans otherwise

    // Whether this is plan(), of whatever machine.
    virtual bool is_plan(const std::string &bytes) const { return bytes.empty(); }

    // Throws Error where the task cannot be shared out.
    virtual void require_shards() const {}

    // Leaves the pieces of the store's shard there.
    virtual void run_shard(const Shard &shard, PieceStore &store) const = 0;
};

// What shard `number` comes to, with what it is of, as bytes that are the same on every machine. Throws
// Error.
std::string run_shard(const Task &task, std::int64_t number);

template <class Answer> class TaskOf : public Task {
  public:
    // Now and then, what is known of the answer so far.
    using Told = std::function<void(const Answer &)>;

    // Pieces that the store (may be null) has are taken from it, others left there.
    virtual Answer run(PieceStore *store, const Told &told) const = 0;

    // Into what people are told of a checkpoint.
    virtual void tell(const Answer &, KeptAbout &) const {}

    void run_shard(const Shard &, PieceStore &store) const override { run(&store, {}); }
};

// From the parts of all shards, each there once or more often, with the bits of one run. Throws Error:
// PERM_BAD_ARGUMENT, with the text naming the first that is missing, damaged or of another task.
template <class Answer>
Answer combine(const TaskOf<Answer> &task, std::span<const std::string_view> parts,
               const typename TaskOf<Answer>::Told &told = {}) {
    task.require_shards();
    PieceStore store(&call().memory());
    take_parts(task.identity(), task.shards(), parts, store);
    Answer answer = task.run(&store, told);
    call().finish();
    return answer;
}

// Going on from the checkpoint that the options name, if they name one. Throws Error (PERM_BAD_OPTION) where
// that is of another task.
template <class Answer>
Answer run_kept(const TaskOf<Answer> &task, const Options &options,
                const typename TaskOf<Answer>::Told &told = {}) {
    if (options.checkpoint.empty()) {
        Answer answer = task.run(nullptr, told);
        call().finish();
        return answer;
    }
    KeptPieces kept(options, task.identity(), task.about(), task.plan());
    if (!task.is_plan(kept.plan())) fail_foreign(options.checkpoint, "another plan");
    const auto tell = [&](const Answer &found) {
        task.tell(found, kept.about());
        if (told) told(found);
    };
    return kept.run([&](PieceStore &store) {
        Answer answer = task.run(&store, tell);
        tell(answer);
        return answer;
    });
}

} // namespace libperm
