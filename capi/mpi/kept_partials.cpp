#include "capi/mpi/kept_partials.hpp"

#include "jit/text/text.hpp"
#include "lib/base/durable_file.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"

#include <algorithm>
#include <utility>

namespace libperm::mpi {
namespace {

// A shard's partial result, as a piece.
Piece piece_of(std::int64_t shard, const std::string &bytes) {
    return {{0, static_cast<std::uint64_t>(shard), whole_block}, 1, 0, bytes};
}

} // namespace

KeptPartials::KeptPartials(std::string file, double seconds_between)
    : file_(std::move(file)), seconds_between_(seconds_between > 0 ? seconds_between : 60) {
    kept_.kind = TaskIdentity::by_ranks;
    if (file_.empty()) return;
    std::optional<KeptFile<KeptTask>> found = read_kept_task(file_);
    if (!found) return;
    const std::string_view other =
        TaskIdentity{TaskIdentity::by_ranks, {}}.difference(found->content.kind, {});
    if (!other.empty()) libperm::fail_foreign(file_, other);
    kept_ = std::move(found->content);
    is_torn_ = found->is_previous;
    seconds_before_ = kept_.progress.seconds;
    for (Piece &piece : kept_.progress.pieces)
        partials_.emplace(static_cast<std::int64_t>(piece.task.block), std::move(piece.part));
    kept_.progress.pieces.clear();
    written_count_ = partials_.size();
}

void KeptPartials::fail_foreign() const {
    libperm::fail_foreign(file_, "another matrix, or of an estimate with other options");
}

void KeptPartials::require_of(std::int64_t shards) const {
    if (partials_.empty() || (partials_.begin()->first >= 0 && partials_.rbegin()->first < shards)) return;
    throw Error(PERM_BAD_OPTION,
                formatted("the checkpoint {} holds shards that its plan does not have: name another "
                          "file, or remove {} to begin anew",
                          file_, those_kept(file_)));
}

void KeptPartials::begin(const std::string &task, const Json &about) {
    shards_ = about.integer("shards");
    if (!is_wanted() || !kept_.plan.empty()) return;
    kept_.plan = task;
    for (const char *way : {"engine", "method"})
        if (const Json *name = about.find(way); name && !name->is_null()) kept_.about.way = name->text();
    kept_.about.n = about.integer("n");
    kept_.about.entries = about.integer("nnz");
    if (failure_of([&] { write_kept_task(file_, kept_); })) // before days are spent on what could not be kept
        throw Error(PERM_BAD_OPTION, formatted("the checkpoint cannot be written: {}", file_));
}

void KeptPartials::write_if_due(const Partials &partials) {
    const std::chrono::duration<double> since = Clock::now() - written_;
    if (is_wanted() && since.count() >= seconds_between_ && partials.size() > written_count_) write(partials);
}

bool KeptPartials::write(const Partials &partials) {
    if (!is_wanted()) return false;
    KeptProgress &now = kept_.progress;
    for (const auto &[shard, bytes] : partials) now.pieces.push_back(piece_of(shard, bytes));
    now.fraction = std::min(1.0, static_cast<double>(partials.size()) / static_cast<double>(shards_));
    now.is_answered = now.fraction >= 1;
    now.seconds = seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
    const auto failure = failure_of([&] { write_kept_task(file_, kept_, is_torn_); });
    now.pieces.clear();
    if (failure) {
        log_warning(formatted("the checkpoint could not be written: {}; what was written before stays",
                              failure->text));
    } else {
        written_count_ = partials.size();
        is_torn_ = false;
    }
    written_ = Clock::now();
    return !failure;
}

} // namespace libperm::mpi
