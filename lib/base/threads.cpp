#include "lib/base/threads.hpp"

#include "lib/base/system.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <new>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>
#include <system_error>
#include <utility>
#include <vector>

namespace libperm {
namespace {

// A child of fork has none of TBB's threads, but what one of them had locked at that moment stays locked
// there. So they end before a fork, where no call is under way, and start again in both processes when they
// are needed.
class CallUnderWay {
  public:
    CallUnderWay() {
        static const int told = pthread_atfork(before_fork, after_fork, after_fork);
        (void)told; // where there is no memory for it, forks are as they were
        const std::lock_guard lock(mutex_);
        ++calls_;
    }
    ~CallUnderWay() {
        const std::lock_guard lock(mutex_);
        --calls_;
    }
    CallUnderWay(const CallUnderWay &) = delete;
    CallUnderWay &operator=(const CallUnderWay &) = delete;

  private:
    static void before_fork() {
        mutex_.lock();
        if (calls_ > 0) return;
        oneapi::tbb::task_scheduler_handle threads{oneapi::tbb::attach{}};
        oneapi::tbb::finalize(threads, std::nothrow);
    }
    static void after_fork() { mutex_.unlock(); }

    static inline constinit std::mutex mutex_;
    static inline constinit int calls_ = 0;
};

} // namespace

void with_threads(int threads, const std::function<void()> &work) {
    const CallUnderWay call;
    oneapi::tbb::task_arena arena(std::min(threads, available_cores())); // TBB complains on stderr about more
    Handover enter, leave;
    const ArriveOnExit left{leave};
    enter.depart();
    arena.execute([&, polled = polled_here()] { // on another thread where all places are taken
        const PolledScope scope(polled);
        enter.arrive();
        const DepartOnExit done{leave};
        work();
    });
}

namespace {

// What is left to be done, and how fast each worker is.
class WorkSharing {
  public:
    WorkSharing(std::span<const std::uint64_t> todo, std::size_t workers)
        : left_(todo.begin(), todo.end()), rates_(workers, 0) {}

    // Some pieces in ascending order, at most `most`. Waits while there are none but others may give some
    // back; none: there is nothing left to do.
    std::vector<std::uint64_t> take(std::size_t worker, std::uint64_t most) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !left_.empty() || under_way_ == 0 || stopped_; });
        std::vector<std::uint64_t> pieces;
        if (stopped_) return pieces;
        for (const std::uint64_t count = std::max<std::uint64_t>(1, std::min(most, share(worker)));
             pieces.size() < count && !left_.empty();) {
            pieces.push_back(left_.front());
            left_.pop_front();
        }
        std::sort(pieces.begin(), pieces.end()); // several workers' may have come back
        under_way_ += pieces.size();
        return pieces;
    }

    void done(std::size_t worker, std::size_t count, double seconds) {
        const std::lock_guard lock(mutex_);
        rates_[worker] = static_cast<double>(count) / std::max(seconds, 1e-6);
        under_way_ -= count;
        changed_.notify_all();
    }

    // The worker takes no more; its error is all that is left when nobody can go on.
    void give_back(std::size_t worker, std::span<const std::uint64_t> pieces, std::exception_ptr why) {
        const std::lock_guard lock(mutex_);
        rates_[worker] = -1;
        left_.insert(left_.begin(), pieces.begin(), pieces.end());
        under_way_ -= pieces.size();
        failure_ = std::move(why);
        if (std::all_of(rates_.begin(), rates_.end(), [](double r) { return r < 0; })) stopped_ = failure_;
        changed_.notify_all();
    }

    // Everybody.
    void stop(std::exception_ptr why) {
        const std::lock_guard lock(mutex_);
        if (!stopped_) stopped_ = std::move(why);
        changed_.notify_all();
    }

    // What stopped the work, if something did.
    void rethrow() const {
        if (stopped_) std::rethrow_exception(stopped_);
    }

  private:
    // A moment's, and no more than half of its share of what is left, so that all end together.
    std::uint64_t share(std::size_t worker) const {
        const double rate = rates_[worker];
        if (rates_.size() == 1) return left_.size();
        if (rate <= 0) return 1;
        double all = 0;
        for (const double r : rates_) all += std::max(r, 0.0);
        const double of_left = static_cast<double>(left_.size()) * rate / all / 2;
        return static_cast<std::uint64_t>(std::max(1.0, std::min(rate * moment, of_left)));
    }

    static constexpr double moment = 0.25; // seconds between two visits to the queue

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::uint64_t> left_;
    std::vector<double> rates_; // pieces a second; 0: not known yet, below: failed
    std::size_t under_way_ = 0;
    std::exception_ptr failure_, stopped_;
};

} // namespace

void share_out(std::span<const std::uint64_t> todo, std::size_t workers, const SharedWork &work) {
    WorkSharing sharing(todo, workers);
    const auto take_part = [&](std::size_t worker) {
        for (;;) {
            std::vector<std::uint64_t> pieces;
            auto start = std::chrono::steady_clock::now();
            try {
                pieces = sharing.take(worker, work.most(worker));
                if (pieces.empty()) return;
                start = std::chrono::steady_clock::now();
                work.run(worker, pieces);
            } catch (...) {
                const std::exception_ptr error = std::current_exception();
                if (!work.is_its_own(worker, error)) return sharing.stop(error);
                return sharing.give_back(worker, pieces, error);
            }
            const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
            sharing.done(worker, pieces.size(), seconds.count());
        }
    };
    {
        const int threads = oneapi::tbb::this_task_arena::max_concurrency();
        std::vector<std::jthread> others;
        for (std::size_t worker = 1; worker < workers; ++worker) try {
                others.emplace_back([&, worker, threads, polled = polled_here()] {
                    const PolledScope scope(polled);
                    try {
                        with_threads(threads, [&] { take_part(worker); });
                    } catch (...) {
                        sharing.give_back(worker, {}, std::current_exception());
                    }
                });
            } catch (const std::system_error &) { // no more threads: those that there are do it
                sharing.give_back(worker, {}, std::current_exception());
            }
        take_part(0);
    }
    sharing.rethrow();
}

} // namespace libperm
