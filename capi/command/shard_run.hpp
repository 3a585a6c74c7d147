// The shards of one index, one after the other or as many at once as there are threads, kept in its file.
#pragma once

#include "interrupt.hpp"
#include "job.hpp"
#include "options.hpp"
#include "part_file.hpp"
#include "progress.hpp"

#include <perm.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace perm {

// The output file is there, and it is something else.
[[noreturn]] void fail_other(const Options &options, const Part &found, const std::string &what);

class ShardRun {
  public:
    // Loads the part's task, or makes it. The time limit counts from the start of the watch.
    ShardRun(const Options &options, const Input &input, libperm::KeptFile<Part> &part,
             const Stopwatch &watch);
    ShardRun(const ShardRun &) = delete;
    ShardRun &operator=(const ShardRun &) = delete;

    std::int64_t shards() const { return task_->shards(); } // of all parts
    std::int64_t size() const { return size_; }             // shards of the part
    bool is_done() const { return done_ == size_; }

    // Those that are not done, until a signal or the time limit; those under way then have ten seconds more.
    // All that is done is in the file when it returns or throws Error.
    void run();

  private:
    perm_opts opts(int threads);
    Task begun();
    Task loaded(int threads);
    void require_asked(const Task &task) const;
    std::string planned();
    int runners() const;
    void work();
    void keep(const std::string &partial);
    void write();
    std::string why_stopped() const;
    [[noreturn]] void fail_stopped() const;
    void stop(perm_status status);
    bool is_stopping();
    int is_to_break_off();
    void report();

    const Options &options_;
    const Input &input_;
    libperm::KeptFile<Part> &part_;
    const Stopwatch &watch_;
    Cancellable cancellable_{finishing};
    Progress progress_;
    std::mutex mutex_; // of the part, the progress and the failure
    std::exception_ptr failure_;
    std::int64_t size_ = 0, done_ = 0; // shards
    std::vector<std::int64_t> todo_;
    std::atomic<std::size_t> next_{0};                                        // of these
    std::atomic<bool> has_begun_ = false;                                     // shards may be under way
    std::atomic<int> status_{PERM_OK};                                        // to stop with
    std::atomic<double> stopped_at_{std::numeric_limits<double>::infinity()}; // by the watch
    double begun_at_ = 0, written_at_ = 0;                                    // by the watch
    double expected_ = 0;                                                     // seconds for all to do
    std::optional<Task> task_;                                                // the last: it calls back
};

} // namespace perm
