// Whatever is computed in numbered pieces, as all that is done with it sees it: with shards, by several
// processes, with a checkpoint, the file of its finished pieces from which this machine or another goes on
// with the same bits.
#pragma once

#include "lib/base/archive.hpp"
#include "lib/base/durable_file.hpp"
#include "lib/input/options.hpp"
#include "lib/number/scaled.hpp"
#include "lib/run/call.hpp"
#include "lib/run/piece_store.hpp"
#include "lib/run/task_parts.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace libperm {

// How far it has come.
struct KeptProgress {
    double fraction = 0;       // of the run under way that is done
    double seconds = 0;        // that the calls took so far
    double run_began = 0;      // of these, when that run did
    bool is_answered = false;  // there is nothing left to do
    std::vector<Piece> pieces; // that are known

    double seconds_left(double predicted) const;

    template <class Archive> void serialize(Archive &ar) {
        amounts(ar, fraction, seconds, run_began);
        flags(ar, is_answered);
        ar(pieces);
        require_read<Archive>(fraction <= 1 && run_began <= seconds && std::isfinite(seconds),
                              "what is done");
    }
};

// What people are told of the task.
struct KeptAbout {
    std::int64_t n = 0, entries = 0;
    std::string way;    // the engine's name, the estimate's method
    double seconds = 0; // predicted
    std::int64_t samples = 0;
    Scaled lower{}, upper{}; // of an estimate so far; both 0: nothing is known

    template <class Archive> void serialize(Archive &ar) {
        ar(n, entries, way);
        amounts(ar, seconds);
        ar(samples, lower.mantissa, lower.exp2, upper.mantissa, upper.exp2);
    }
};

// What stands in the file.
struct KeptTask {
    std::string kind; // of its identity
    std::vector<std::string> digests;
    std::string plan; // saved, as another machine might make another; none of an estimate
    KeptAbout about;
    KeptProgress progress;

    template <class Archive> void serialize(Archive &ar) { ar(kind, digests, plan, about, progress); }
};

// None: there is neither the file nor the one before it. Throws Error where none can be read.
std::optional<KeptFile<KeptTask>> read_kept_task(const std::string &file);

void write_kept_task(const std::string &file, const KeptTask &task,
                     bool is_torn = false); // or std::system_error

// The plan that stands in the options' checkpoint of a task of this kind, or of a batch of the plan,
// saved; none: there is no such file.
std::optional<std::string> plan_in_checkpoint(const Options &options, std::string_view kind);

[[noreturn]] void fail_foreign(const std::string &file, std::string_view of);

class KeptPieces {
  public:
    // In the options' file, which is gone on from if it is there. Throws Error (PERM_BAD_OPTION) where it is
    // of another task or cannot be written.
    KeptPieces(const Options &options, const TaskIdentity &identity, KeptAbout about, std::string plan = {});
    KeptPieces(const KeptPieces &) = delete;
    KeptPieces &operator=(const KeptPieces &) = delete;

    const std::string &plan() const { return kept_.plan; } // the file's
    KeptAbout &about() { return kept_.about; }             // written with what is done next

    // work(store), and what it comes to; whatever becomes of it, what is done is kept.
    template <class Work> auto run(const Work &work) {
        try {
            auto outcome = work(store_);
            write(true);
            call_.finish();
            return outcome;
        } catch (const Error &error) {
            fail_kept(error, write(false));
        }
    }

  private:
    using Clock = std::chrono::steady_clock;
    void begin();
    void go_on_from(KeptFile<KeptTask> found);
    void write_if_due();
    bool write(bool is_answered); // what keeps it from being written is logged
    [[noreturn]] void fail_kept(const Error &error, bool is_written) const;

    const Options &options_;
    Call &call_ = libperm::call(); // that it was made in
    KeptTask kept_;                // but for the pieces
    bool is_torn_ = false;
    double seconds_before_ = 0;
    Clock::time_point start_ = Clock::now(), written_ = start_;
    std::chrono::duration<double> took_{}; // the last write
    PieceStore store_;
};

// Whatever is computed in numbered pieces, as all that is done with it sees it: with shards, by several
// processes, with a checkpoint. Each kind says what it is of, how it is divided and how it is run; the rest
// is written here, once.

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
