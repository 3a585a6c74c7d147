// A rank's computing thread: it runs the shards that the rank was given, one after the other, with one in
// reserve or more, so that it never waits for a message.
#pragma once

#include "capi/mpi/shard_hub.hpp"

#include <perm.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace libperm::mpi {

class ShardWorker {
  public:
    // Of the task that these bytes are, whose callbacks are the worker's. Throws perm::Error.
    ShardWorker(const std::string &task, perm_opts opts);
    ~ShardWorker();
    ShardWorker(const ShardWorker &) = delete;
    ShardWorker &operator=(const ShardWorker &) = delete;

    // What rank 0 is to know now, if anything. To be followed by take() of its reply.
    // cancel: its caller wants the call to stop.
    std::optional<Report> news(bool cancel = false);
    void take(const Reply &reply);
    bool has_left() const { return has_left_; }

    // Until there may be news, but so long at most.
    void wait(std::chrono::microseconds most);

  private:
    struct Result {
        std::int64_t shard;
        perm_status status;
        std::string bytes;
    };

    void work();
    Result run(std::int64_t shard);
    std::int64_t reserve() const;

    // Of the library, from the computing thread.
    static void on_progress(double fraction, double, void *user);
    static int is_aborted(void *user);

    std::atomic<bool> aborted_ = false;
    std::atomic<double> fraction_ = 0; // of the running shard
    std::optional<const perm::Task> task_;

    std::mutex mutex_;
    std::condition_variable given_, told_;
    std::deque<std::int64_t> queue_;
    std::deque<Result> results_;
    bool is_running_ = false, is_closed_ = false;
    double seconds_ = 0; // of a shard, measured, before that predicted

    using Clock = std::chrono::steady_clock;
    Clock::time_point reported_{};
    bool none_left_ = false, has_left_ = false; // as rank 0 said
    bool cancel_ = false;                       // told
    std::thread thread_;
};

} // namespace libperm::mpi
