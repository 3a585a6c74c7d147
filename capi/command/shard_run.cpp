#include "shard_run.hpp"

#include "output.hpp"

#include "lib/base/durable_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

namespace perm {
namespace {

constexpr double to_finish = 10;     // seconds that shards under way have
constexpr double default_pause = 60; // between two writes

} // namespace

void fail_other(const Options &options, const std::string &what) {
    throw Error(PERM_BAD_OPTION,
                fmt::format("{} is there and of {}: name another file, or remove {} to begin anew",
                            options.output, what, libperm::those_kept(options.output)));
}

ShardRun::ShardRun(const Options &options, PartFile &part, const Stopwatch &watch)
    : options_(options), part_(part), watch_(watch), progress_(!options.quiet), work_(load(options.threads)) {
    const std::int64_t shards = work_->task().shards();
    require_own_shards(options.output, part, shards);
    const std::int64_t last = first_shard(shards, part.of, part.index + 1);
    for (std::int64_t k = first_shard(shards, part.of, part.index); k < last; ++k, ++size_)
        if (!part.partials.contains(k)) todo_.push_back(k);
    begun_at_ = written_at_ = watch.seconds();
}

std::unique_ptr<const ShardWork> ShardRun::load(int threads) {
    perm_opts opts = library_options(options_);
    opts.threads = threads;
    opts.time_limit_seconds = std::numeric_limits<double>::infinity(); // that of all is seen to here
    opts.cancel = [](void *self) { return static_cast<ShardRun *>(self)->is_to_break_off(); };
    opts.cancel_user = this;
    opts.progress = [](double, double, void *self) { static_cast<ShardRun *>(self)->report(); };
    opts.progress_user = this;
    try {
        if (options_.estimate) return std::make_unique<const ShardWork>(own_estimate(opts));
        return std::make_unique<const ShardWork>(options_.output, part_, opts);
    } catch (const Error &error) {
        if (error.status() != PERM_CANCELLED) throw;
        throw Error(static_cast<perm_status>(status_.load()), why_stopped() + " before a shard was begun");
    }
}

// A part that was begun is of the same, or of another.
Task ShardRun::own_estimate(const perm_opts &opts) {
    Task task = estimate_of(part_, options_, opts);
    const std::string bytes = task.save();
    if (!part_.plan.plan.empty() && part_.plan.plan != bytes)
        fail_other(options_, "an estimate with other options");
    part_.plan.plan = bytes;
    return task;
}

void ShardRun::run() {
    if (todo_.empty()) return;
    const int count = work_->runners(std::ssize(todo_));
    if (count > 1) work_ = load(1);
    expected_ = work_->task().shard_seconds() * static_cast<double>(todo_.size()) / count;
    has_begun_ = true;
    {
        std::vector<std::jthread> others;
        for (int k = 1; k < count; ++k) others.emplace_back([this] { work(); });
        work();
    }
    if (failure_ && part_.partials.empty())
        discard_part(options_.output); // another time it may be planned otherwise
    else
        write_part_file(options_.output, part_);
    if (failure_) std::rethrow_exception(failure_);
    if (!is_done()) fail_stopped();
}

void ShardRun::work() {
    try {
        while (!is_stopping()) {
            const std::size_t k = next_++;
            if (k >= todo_.size()) return;
            keep(todo_[k], work_->task().run_shard(todo_[k]));
        }
    } catch (...) {
        const std::lock_guard lock(mutex_);
        if (status_ != PERM_OK) return; // broken off
        failure_ = std::current_exception();
        stop(PERM_INTERNAL);
    }
}

void ShardRun::keep(std::int64_t number, std::string partial) {
    const std::lock_guard lock(mutex_);
    part_.partials.emplace(number, std::move(partial));
    const double pause = options_.checkpoint_seconds > 0 ? options_.checkpoint_seconds : default_pause;
    if (watch_.seconds() - written_at_ < pause) return;
    try {
        write_part_file(options_.output, part_);
    } catch (const std::runtime_error &error) { // there may be room by the next time
        write_message(fmt::format("warning: {}; what was written before stays", error.what()));
    }
    written_at_ = watch_.seconds();
}

std::string ShardRun::why_stopped() const {
    if (status_ == PERM_CANCELLED) return "cancelled";
    return fmt::format("stopped at the time limit of {}", in_words(options_.time_limit_seconds));
}

void ShardRun::fail_stopped() const {
    throw Error(static_cast<perm_status>(status_.load()),
                fmt::format("{}; {} of {} shards are done and in {}: the same command goes on from there{}",
                            why_stopped(), part_.partials.size(), size_, options_.output,
                            how_to_go_on(options_)));
}

void ShardRun::stop(perm_status status) {
    int none = PERM_OK;
    const double now = watch_.seconds();
    if (status_.compare_exchange_strong(none, status)) stopped_at_ = now;
}

bool ShardRun::is_stopping() {
    if (status_ == PERM_OK && Cancellable::requested(nullptr)) stop(PERM_CANCELLED);
    if (options_.time_limit_seconds > 0 && watch_.seconds() > options_.time_limit_seconds)
        stop(PERM_REFUSED_TIME);
    return status_ != PERM_OK;
}

int ShardRun::is_to_break_off() {
    if (!is_stopping()) return 0;
    const bool spares_shards = has_begun_ && status_ != PERM_INTERNAL;
    return !spares_shards || watch_.seconds() - stopped_at_ > to_finish;
}

// By one shard's thread or another's: the shards count, all being of about the same size.
void ShardRun::report() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || size_ == 0) return;
    const double done = static_cast<double>(part_.partials.size()), all = static_cast<double>(size_);
    const double to_do = static_cast<double>(todo_.size()), run = to_do - (all - done);
    const double elapsed = watch_.seconds() - begun_at_;
    const double left = run > 0 ? elapsed * (all - done) / run : std::max(0.0, expected_ - elapsed);
    Progress::report(done / all, left, &progress_);
}

} // namespace perm
