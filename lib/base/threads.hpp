// The threads that a call may use, what the first of them makes for the others, and work shared out among
// workers of different speed.
#pragma once

#include "preprocess/limits.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

namespace libperm {

// Runs `work` with at most this many threads for whatever it does in parallel.
void with_threads(int threads, const std::function<void()> &work);

// Made when it is first asked for, and again where that threw; whoever asks meanwhile waits, as long as its
// call may go on.
template <class Content> class Lazy {
  public:
    // make() gives a pointer, which owns it: null where there is none.
    template <class Make> const Content *of(const Make &make) const {
        if (is_known_) return made_.get();
        std::unique_lock lock(mutex_, std::defer_lock);
        while (!lock.try_lock()) {
            poll();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        if (!is_known_) made_ = make();
        is_known_ = true;
        return made_.get();
    }
    const Content *if_known() const { return is_known_ ? made_.get() : nullptr; }

  private:
    mutable std::mutex mutex_;
    mutable std::atomic<bool> is_known_{false};
    mutable std::unique_ptr<const Content> made_;
};

// Pieces shared out among workers of different speed: each takes what it does in a moment by its measured
// rate, and what a worker that failed has taken goes back to the others.
// run(worker, pieces) on a thread for each worker, the first on the caller's; is_its_own(error) tells whether
// an exception is the worker's own failure, so that the others may go on.
struct SharedWork {
    std::function<std::uint64_t(std::size_t worker)> most; // pieces at once
    std::function<void(std::size_t worker, std::span<const std::uint64_t> pieces)> run;
    std::function<bool(std::size_t worker, const std::exception_ptr &)> is_its_own;
};
void share_out(std::span<const std::uint64_t> todo, std::size_t workers, const SharedWork &work);

} // namespace libperm
