// The shards of one index, one after the other or as many at once as there are threads, kept in its file.
#pragma once

#include "interrupt.hpp"
#include "job.hpp"
#include "options.hpp"
#include "part_file.hpp"
#include "progress.hpp"
#include "shard_work.hpp"

#include <perm.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace perm {

// The output file is there and of something else.
[[noreturn]] void fail_other(const Options &options, const std::string &what);

class ShardRun {
  public:
    // Loads the part's plan, or that of its estimate. The time limit counts from the start of the watch.
    ShardRun(const Options &options, PartFile &part, const Stopwatch &watch);
    ShardRun(const ShardRun &) = delete;
    ShardRun &operator=(const ShardRun &) = delete;

    std::int64_t shards() const { return work_->task().shards(); } // of all parts
    std::int64_t size() const { return size_; }                    // shards of the part
    bool is_done() const { return static_cast<std::int64_t>(part_.partials.size()) == size_; }

    // Those that are not done, until a signal or the time limit; those under way then have ten seconds more.
    // All that is done is in the file when it returns or throws Error.
    void run();

  private:
    std::unique_ptr<const ShardWork> load(int threads);
    Task own_estimate(const perm_opts &opts);
    void work();
    void keep(std::int64_t number, std::string partial);
    std::string why_stopped() const;
    [[noreturn]] void fail_stopped() const;
    void stop(perm_status status);
    bool is_stopping();
    int is_to_break_off();
    void report();

    const Options &options_;
    PartFile &part_;
    const Stopwatch &watch_;
    Cancellable cancellable_{finishing};
    Progress progress_;
    std::mutex mutex_; // of the part, the progress and the failure
    std::exception_ptr failure_;
    std::int64_t size_ = 0;
    std::vector<std::int64_t> todo_;
    std::atomic<std::size_t> next_{0};                                        // of these
    std::atomic<bool> has_begun_ = false;                                     // shards may be under way
    std::atomic<int> status_{PERM_OK};                                        // to stop with
    std::atomic<double> stopped_at_{std::numeric_limits<double>::infinity()}; // by the watch
    double begun_at_ = 0, written_at_ = 0;                                    // by the watch
    double expected_ = 0;                                                     // seconds for all to do
    std::unique_ptr<const ShardWork> work_;                                   // the last: it calls back
};

} // namespace perm
