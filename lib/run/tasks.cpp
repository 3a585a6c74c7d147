#include "lib/run/tasks.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"

#include <algorithm>
#include <system_error>

namespace libperm {

// As fast as so far; before there is much of that, as predicted.
double KeptProgress::seconds_left(double predicted) const {
    if (is_answered) return 0;
    return fraction > 0.001 ? (seconds - run_began) * (1 / fraction - 1) : predicted;
}

namespace {

constexpr Seal kept_seal{"PERMKEPT", 4, "the checkpoint", "a computation or an estimate with a checkpoint",
                         "finish with that version, or remove the file and begin anew"};

KeptTask read_content(std::string_view bytes) { return content_of<KeptTask>(kept_seal, bytes); }

} // namespace

std::optional<KeptFile<KeptTask>> read_kept_task(const std::string &file) {
    return read_kept<KeptTask>(file, read_content, log_warning);
}

void write_kept_task(const std::string &file, const KeptTask &task, bool is_torn) {
    write_durably(file, sealed(kept_seal, written(task)), is_torn);
}

void fail_foreign(const std::string &file, std::string_view of) {
    throw Error(PERM_BAD_OPTION,
                formatted("the checkpoint {} is of {}: name another file, or remove {} to begin anew", file,
                          of, those_kept(file)));
}

std::optional<std::string> plan_in_checkpoint(const Options &options, std::string_view kind) {
    if (options.checkpoint.empty()) return {};
    std::optional<KeptFile<KeptTask>> kept = read_kept_task(options.checkpoint);
    if (!kept) return {};
    // Derivatives are of a plan that is made anew: any of the matrix will do.
    if (kind == TaskIdentity::plan && kept->content.kind == TaskIdentity::derivatives) return {};
    const bool is_of_its_batch = kind == TaskIdentity::plan && kept->content.kind == TaskIdentity::batch;
    const std::string_view other = TaskIdentity{kind, {}}.difference(kept->content.kind, {});
    if (!other.empty() && !is_of_its_batch) fail_foreign(options.checkpoint, other);
    return std::move(kept->content.plan);
}

KeptPieces::KeptPieces(const Options &options, const TaskIdentity &identity, KeptAbout about,
                       std::string plan)
    : options_(options),
      kept_{std::string(identity.kind), identity.digests(), std::move(plan), std::move(about), {}},
      store_(&call_.memory(), [this] { write_if_due(); }) {
    std::optional<KeptFile<KeptTask>> found = read_kept_task(options.checkpoint);
    if (!found) {
        begin();
        return;
    }
    const std::string_view other = identity.difference(found->content.kind, found->content.digests);
    if (!other.empty()) fail_foreign(options.checkpoint, other);
    go_on_from(std::move(*found));
}

void KeptPieces::begin() {
    try { // before days are spent on what could not be kept
        write_kept_task(options_.checkpoint, kept_);
    } catch (const std::system_error &error) {
        throw Error(PERM_BAD_OPTION, formatted("the checkpoint cannot be written: {}", error.what()));
    }
}

void KeptPieces::go_on_from(KeptFile<KeptTask> found) {
    kept_.plan = std::move(found.content.plan);
    kept_.progress = std::move(found.content.progress);
    is_torn_ = found.is_previous;
    seconds_before_ = kept_.progress.seconds;
    for (Piece &piece : kept_.progress.pieces) store_.put(std::move(piece));
    kept_.progress.pieces.clear();
}

// The work has half of the time at least, however slow the disk is.
void KeptPieces::write_if_due() {
    const std::chrono::duration<double> since = Clock::now() - written_, asked(options_.checkpoint_seconds);
    if (since >= std::max(asked, took_)) write(false);
}

bool KeptPieces::write(bool is_answered) {
    KeptProgress &now = kept_.progress;
    const double before = now.fraction;
    now.pieces = store_.pieces();
    now.is_answered = is_answered;
    now.fraction = is_answered ? 1 : call_.fraction();
    now.seconds = seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
    if (now.fraction < before) now.run_began = now.seconds; // another run's
    bool is_written = true;
    const Clock::time_point begun = Clock::now();
    try {
        write_kept_task(options_.checkpoint, kept_, is_torn_);
        is_torn_ = false;
    } catch (const std::system_error &error) {
        is_written = false;
        log_warning(formatted("the checkpoint could not be written: {}; what was written before stays",
                              error.what()));
    }
    now.pieces.clear(); // the store has them
    written_ = Clock::now();
    took_ = written_ - begun;
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

std::string run_shard(const Task &task, std::int64_t number) {
    task.require_shards();
    const ShardCount shards = task.shards();
    const std::int64_t end = shards.more_may_follow ? std::int64_t{1} << 32 : shards.count;
    if (number < 0 || number >= end)
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("there is no shard {}: they are counted from 0 to {}", number, end - 1));
    const Shard shard{static_cast<std::uint64_t>(shards.count), static_cast<std::uint64_t>(number)};
    PieceStore store(&call().memory(), shard);
    task.run_shard(shard, store);
    call().finish();
    return bytes_of_part(task.identity(), shard.number, store);
}

} // namespace libperm
