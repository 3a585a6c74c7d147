// The finished pieces of a task in a file, so that it can be gone on with: after a crash, a limit or a
// signal, by this machine or another, with the same bits.
#pragma once

#include "lib/base/fields.hpp"
#include "lib/base/kept_file.hpp"
#include "lib/input/options.hpp"
#include "lib/number/scaled.hpp"
#include "lib/run/call.hpp"
#include "lib/run/piece_fields.hpp"
#include "lib/run/task_identity.hpp"

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
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
    Scaled lower, upper; // of an estimate so far; both 0: nothing is known

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

} // namespace libperm
