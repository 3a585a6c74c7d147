#include "capi/mpi/shard_worker.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm::mpi {

ShardWorker::ShardWorker(const std::string &task, perm_opts opts) {
    opts.progress = on_progress;
    opts.progress_user = this;
    opts.cancel = is_aborted;
    opts.cancel_user = this;
    task_.emplace(perm::Task::load(task, opts));
    seconds_ = task_->shard_seconds();
    thread_ = std::thread([this] { work(); });
}

ShardWorker::~ShardWorker() {
    take({Order::leave});
    thread_.join();
}

void ShardWorker::on_progress(double fraction, double, void *user) {
    static_cast<ShardWorker *>(user)->fraction_ = fraction;
}

int ShardWorker::is_aborted(void *user) { return static_cast<ShardWorker *>(user)->aborted_; }

void ShardWorker::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        given_.wait(lock, [this] { return is_closed_ || !queue_.empty(); });
        if (queue_.empty()) return;
        const std::int64_t shard = queue_.front();
        queue_.pop_front();
        is_running_ = true;
        lock.unlock();
        const Clock::time_point start = Clock::now();
        Result result = run(shard);
        const double took = std::chrono::duration<double>(Clock::now() - start).count();
        lock.lock();
        is_running_ = false;
        seconds_ = took;
        // One that was aborted came to nothing, and whoever failed gives the others back.
        if (result.status != PERM_OK) queue_.clear();
        if (!aborted_) results_.push_back(std::move(result));
        told_.notify_one();
    }
}

ShardWorker::Result ShardWorker::run(std::int64_t shard) {
    fraction_ = 0;
    Result result{shard, PERM_OK, {}};
    try {
        result.bytes = task_->run_shard(shard);
    } catch (const perm::Error &error) {
        result.status = error.status();
        result.bytes = error.what();
    } catch (const std::exception &error) {
        result.status = PERM_OUT_OF_MEMORY;
        result.bytes = error.what();
    }
    return result;
}

// Enough for a twentieth of a second, in which the reply comes. Where a shard takes much longer, an idle
// moment is nothing, and another rank may have it sooner.
std::int64_t ShardWorker::reserve() const {
    constexpr double long_shard = 1, moment = 0.05, most = 64;
    if (seconds_ > long_shard) return 0;
    return static_cast<std::int64_t>(std::clamp(std::ceil(moment / seconds_), 1.0, most));
}

std::optional<Report> ShardWorker::news(bool cancel) {
    constexpr std::chrono::milliseconds between{500}; // reports without anything new
    const std::lock_guard lock(mutex_);
    Report report;
    report.busy = static_cast<std::int64_t>(queue_.size()) + is_running_;
    report.wanted = std::max<std::int64_t>(0, 1 + reserve() - report.busy);
    report.cancel = std::exchange(cancel_, cancel) != cancel;
    const bool is_due = report.cancel || Clock::now() - reported_ >= between;
    if (results_.empty() && !is_due && (report.wanted == 0 || none_left_)) return {};
    if (is_running_)
        report.billionths = static_cast<std::int64_t>(1e9 * std::clamp(fraction_.load(), 0.0, 1.0));
    if (!results_.empty()) {
        Result result = std::move(results_.front());
        results_.pop_front();
        report.finished = result.shard;
        report.status = result.status;
        report.bytes = std::move(result.bytes);
        report.size = static_cast<std::int64_t>(report.bytes.size());
        report.busy += static_cast<std::int64_t>(results_.size()); // to be told next
    }
    reported_ = Clock::now();
    return report;
}

void ShardWorker::take(const Reply &reply) {
    const std::lock_guard lock(mutex_);
    if (reply.order == Order::work)
        for (std::int64_t k = 0; k < reply.count; ++k) queue_.push_back(reply.first + k);
    else
        queue_.clear();
    none_left_ = reply.order != Order::work || reply.count == 0;
    if (reply.order == Order::abort || reply.order == Order::leave) aborted_ = true;
    if (reply.order == Order::leave) is_closed_ = has_left_ = true;
    given_.notify_one();
}

void ShardWorker::wait(std::chrono::microseconds most) {
    std::unique_lock lock(mutex_);
    if (results_.empty()) told_.wait_for(lock, most);
}

} // namespace libperm::mpi
