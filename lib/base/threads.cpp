#include "lib/base/threads.hpp"

#include "lib/base/system.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

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

} // namespace libperm
