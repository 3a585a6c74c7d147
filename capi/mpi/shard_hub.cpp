#include "capi/mpi/shard_hub.hpp"

#include "jit/text/text.hpp"
#include "lib/base/log.hpp"

#include <algorithm>
#include <utility>

namespace libperm::mpi {

ShardHub::ShardHub(std::int64_t shards, Partials known, int ranks)
    : shards_(shards), partials_(std::move(known)), ranks_(static_cast<std::size_t>(ranks)) {}

std::optional<Reply> ShardHub::answer(int rank, Report report) {
    Rank &own = ranks_[static_cast<std::size_t>(rank)];
    own.is_waiting = true; // whatever happens here
    own.busy = report.busy;
    own.wanted = report.wanted;
    own.billionths = report.billionths;
    if (report.cancel) stop({PERM_CANCELLED, "cancelled by the caller"}, Running::finish);
    if (report.finished >= 0) take_result(rank, std::move(report));
    std::optional<Reply> reply = reply_to(own);
    own.is_waiting = !reply;
    return reply;
}

std::vector<ShardHub::Answer> ShardHub::answer_waiting() {
    std::vector<Answer> answers;
    for (std::size_t k = 0; k < ranks_.size(); ++k)
        if (ranks_[k].is_waiting)
            if (const std::optional<Reply> reply = reply_to(ranks_[k])) {
                ranks_[k].is_waiting = false;
                answers.push_back({static_cast<int>(k), *reply});
            }
    return answers;
}

void ShardHub::take_result(int rank, Report report) {
    Rank &own = ranks_[static_cast<std::size_t>(rank)];
    const auto status = static_cast<perm_status>(report.status);
    if (status == PERM_OK) {
        own.has.erase(report.finished);
        partials_.insert_or_assign(report.finished, std::move(report.bytes));
    } else if (status == PERM_GPU_FAILED || status == PERM_OUT_OF_MEMORY)
        leave_out(rank, {status, std::move(report.bytes)});
    else
        stop({status, rank == 0 ? report.bytes : formatted("rank {}: {}", rank, report.bytes)},
             Running::abort);
}

void ShardHub::leave_out(int rank, Failure why) {
    Rank &own = ranks_[static_cast<std::size_t>(rank)];
    if (own.is_left_out) return;
    log_warning(formatted("rank {} is left out, its shards run elsewhere: {}", rank, why.text));
    own.is_left_out = true;
    returned_.merge(own.has);
    own.has.clear();
    if (++left_out_ == static_cast<int>(ranks_.size())) stop(std::move(why), Running::abort);
}

void ShardHub::stop(Failure why, Running running) {
    if (is_complete()) return;
    if (!failure_) failure_ = std::move(why);
    running_ = std::max(running_, running);
}

std::optional<Reply> ShardHub::reply_to(Rank &rank) {
    const bool is_done = failure_ || is_complete() || rank.is_left_out;
    if (is_done && rank.busy == 0) {
        ++left_;
        return Reply{Order::leave};
    }
    // What it still has others run, or have run.
    if (rank.is_left_out || is_complete()) return Reply{Order::abort};
    if (failure_) return Reply{running_ == Running::abort ? Order::abort : Order::finish};
    const Reply work = hand_out(rank);
    if (work.count == 0 && rank.busy == 0) return {};
    return work;
}

// In ascending order, whatever comes back first.
Reply ShardHub::hand_out(Rank &rank) {
    Reply work;
    if (rank.wanted <= 0) return work;
    if (!returned_.empty()) {
        work = {Order::work, *returned_.begin(), 1};
        returned_.erase(returned_.begin());
    } else {
        while (next_ < shards_ && partials_.contains(next_)) ++next_;
        work.first = next_;
        while (work.count < rank.wanted && next_ < shards_ && !partials_.contains(next_)) {
            ++next_;
            ++work.count;
        }
    }
    for (std::int64_t k = 0; k < work.count; ++k) rank.has.insert(work.first + k);
    if (work.count > 0) rank.wanted = 0;
    return work;
}

double ShardHub::fraction() const {
    auto done = static_cast<double>(partials_.size());
    for (const Rank &rank : ranks_)
        if (rank.busy > 0) done += static_cast<double>(rank.billionths) * 1e-9;
    return std::min(1.0, done / static_cast<double>(shards_));
}

} // namespace libperm::mpi
