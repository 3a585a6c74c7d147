#include "lib/execute/kept_pieces.hpp"

#include "jit/text/text.hpp"
#include "lib/base/durable_file.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"

#include <system_error>
#include <utility>

namespace libperm {

// As fast as so far; before there is much of that, as predicted.
double KeptProgress::seconds_left(double predicted) const {
    if (is_answered) return 0;
    return fraction > 0.001 ? (seconds - run_began) * (1 / fraction - 1) : predicted;
}

KeptPieces::KeptPieces(const Options &options, RunControl &control, BytesOf bytes_of)
    : options_(options),
      control_(control),
      bytes_of_(std::move(bytes_of)),
      store_(&control.memory(), [this] { write_if_due(); }) {}

void KeptPieces::begin() {
    try { // before days are spent on what could not be kept
        write_durably(options_.checkpoint, bytes_of_(progress_));
    } catch (const std::system_error &error) {
        throw Error(PERM_BAD_OPTION, formatted("the checkpoint cannot be written: {}", error.what()));
    }
}

void KeptPieces::go_on_from(KeptProgress found, bool is_torn) {
    progress_ = std::move(found);
    is_torn_ = is_torn;
    seconds_before_ = progress_.seconds;
    for (Piece &piece : progress_.pieces) store_.put(std::move(piece));
    progress_.pieces.clear();
}

void KeptPieces::write_if_due() {
    const std::chrono::duration<double> since = Clock::now() - written_;
    if (since.count() >= options_.checkpoint_seconds) write(false);
}

bool KeptPieces::write(bool is_answered) {
    KeptProgress now = progress_;
    now.pieces = store_.pieces();
    now.is_answered = is_answered;
    now.fraction = is_answered ? 1 : control_.fraction();
    now.seconds = seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
    if (now.fraction < progress_.fraction) now.run_began = now.seconds; // another run's
    progress_.fraction = now.fraction;
    progress_.seconds = now.seconds;
    progress_.run_began = now.run_began;
    bool is_written = true;
    try {
        write_durably(options_.checkpoint, bytes_of_(now), is_torn_);
        is_torn_ = false;
    } catch (const std::system_error &error) {
        is_written = false;
        log_warning(formatted("the checkpoint could not be written: {}; what was written before stays",
                              error.what()));
    }
    written_ = Clock::now();
    return is_written;
}

void KeptPieces::fail_kept(const Error &error, bool is_written) const {
    if (error.status() != PERM_CANCELLED && error.status() != PERM_REFUSED_TIME) throw; // that is handled
    const std::string &file = options_.checkpoint;
    throw Error(
        error.status(),
        is_written
            ? formatted("{}; what is done is in {}: the same call goes on from there", error.what(), file)
            : formatted("{}; what was done since the last write to {} is lost: it cannot be written",
                        error.what(), file));
}

} // namespace libperm
