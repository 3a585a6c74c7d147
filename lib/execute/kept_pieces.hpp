// The finished pieces of a computation in a file, written now and then: what a checkpoint of whatever is
// computed in pieces has in common.
#pragma once

#include "lib/base/fields.hpp"
#include "lib/input/options.hpp"
#include "lib/run/piece_fields.hpp"
#include "lib/run/run_control.hpp"

#include <chrono>
#include <cmath>
#include <functional>
#include <string>
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

class KeptPieces {
  public:
    // In the options' file. bytes_of: all of it.
    using BytesOf = std::function<std::string(const KeptProgress &)>;
    KeptPieces(const Options &options, RunControl &control, BytesOf bytes_of);
    KeptPieces(const KeptPieces &) = delete;
    KeptPieces &operator=(const KeptPieces &) = delete;

    // One of both, first. Throws Error (PERM_BAD_OPTION) where the file cannot be written.
    void begin();
    void go_on_from(KeptProgress found, bool is_torn); // the file is, and this is from the one before

    // work(store), and what it comes to; whatever becomes of it, what is done is kept.
    template <class Work> auto run(const Work &work) {
        try {
            auto outcome = work(store_);
            write(true);
            control_.finish();
            return outcome;
        } catch (const Error &error) {
            fail_kept(error, write(false));
        }
    }

  private:
    using Clock = std::chrono::steady_clock;
    void write_if_due();
    bool write(bool is_answered); // what keeps it from being written is logged
    [[noreturn]] void fail_kept(const Error &error, bool is_written) const;

    const Options &options_;
    RunControl &control_;
    const BytesOf bytes_of_;
    KeptProgress progress_; // but for the pieces
    bool is_torn_ = false;
    double seconds_before_ = 0;
    Clock::time_point start_ = Clock::now(), written_ = start_;
    PieceStore store_;
};

} // namespace libperm
