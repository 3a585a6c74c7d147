// The threads that a call may use, and work shared out among workers of different speed.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

namespace libperm {

// Runs `work` with at most this many threads for whatever it does in parallel.
void with_threads(int threads, const std::function<void()> &work);

// Pieces shared out among workers of different speed: each takes what it does in a moment by its measured
// rate, and what a worker that failed has taken goes back to the others.

class WorkSharing {
  public:
    WorkSharing(std::span<const std::uint64_t> todo, std::size_t workers)
        : left_(todo.begin(), todo.end()), rates_(workers, 0) {}

    // Some pieces in ascending order, at most `most`. Waits while there are none but others may give some
    // back; none: there is nothing left to do.
    std::vector<std::uint64_t> take(std::size_t worker, std::uint64_t most);
    void done(std::size_t worker, std::size_t count, double seconds);

    // The worker takes no more; its error is all that is left when nobody can go on.
    void give_back(std::size_t worker, std::span<const std::uint64_t> pieces, std::exception_ptr why);
    void stop(std::exception_ptr why); // everybody

    void rethrow() const; // what stopped the work, if something did

  private:
    std::uint64_t share(std::size_t worker) const;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::uint64_t> left_;
    std::vector<double> rates_; // pieces a second; 0: not known yet, below: failed
    std::size_t under_way_ = 0;
    std::exception_ptr failure_, stopped_;
};

// run(worker, pieces) on a thread for each worker, the first on the caller's; is_its_own(error) tells whether
// an exception is the worker's own failure, so that the others may go on.
struct SharedWork {
    std::function<std::uint64_t(std::size_t worker)> most; // pieces at once
    std::function<void(std::size_t worker, std::span<const std::uint64_t> pieces)> run;
    std::function<bool(std::size_t worker, const std::exception_ptr &)> is_its_own;
};
void share_out(std::span<const std::uint64_t> todo, std::size_t workers, const SharedWork &work);

} // namespace libperm
