// oneTBB as libperm uses it: loops over numbered pieces of work whose results do not depend on who ran them;
// whoever does works for the call of the thread that began the loop.
//
// libtbb.so is not instrumented, so ThreadSanitizer does not see that a loop waits for its pieces. In builds
// for it (preset tsan) the forks and joins are told it by hand.
#pragma once

#include "preprocess/limits.hpp"

#include <cstdint>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/parallel_reduce.h>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace libperm {

// What happened before depart() on one side has happened after arrive() on the other.
class Handover {
  public:
#if defined(__SANITIZE_THREAD__)
    void depart() { __tsan_release(this); }
    void arrive() { __tsan_acquire(this); }

  private:
    char address_ = 0; // stands for the handover
#else
    void depart() {}
    void arrive() {}
#endif
};

// At the end of a scope, also when it is left by an exception.
struct DepartOnExit {
    Handover &handover;
    ~DepartOnExit() { handover.depart(); }
};
struct ArriveOnExit {
    Handover &handover;
    ~ArriveOnExit() { handover.arrive(); }
};

// Each loop has a context of its own: what stops the one around it, an exception in another of its pieces,
// does not cut this one short. TBB would, without a word, and what is not computed would be taken for its
// result.
using Context = oneapi::tbb::task_group_context;

// body(k) for k = 0 .. count - 1.
template <class Body> void parallel_for(std::uint64_t count, const Body &body) {
    Handover fork, join;
    const ArriveOnExit joined{join};
    fork.depart();
    Context context(Context::isolated);
    const auto piece = [&, polled = polled_here()](std::uint64_t k) {
        const PolledScope scope(polled);
        fork.arrive();
        const DepartOnExit done{join};
        body(k);
    };
    oneapi::tbb::parallel_for(std::uint64_t{0}, count, piece, context);
}

// join() of body(begin, end) over pieces of 0 .. count - 1 of about `grain`; join must not care for the
// order.
template <class Body> auto parallel_reduce(std::int64_t count, std::int64_t grain, const Body &body) {
    using Range = oneapi::tbb::blocked_range<std::int64_t>;
    using Result = decltype(body(std::int64_t{0}, std::int64_t{0}));
    Handover fork, gather;
    const ArriveOnExit gathered{gather};
    fork.depart();
    Context context(Context::isolated);
    return oneapi::tbb::parallel_reduce(
        Range(0, count, static_cast<std::size_t>(grain)), Result{},
        [&, polled = polled_here()](const Range &range, const Result &so_far) {
            const PolledScope scope(polled);
            fork.arrive();
            const DepartOnExit done{gather};
            return join(so_far, body(range.begin(), range.end()));
        },
        [](const Result &x, const Result &y) { return join(x, y); }, context);
}

// first() hands out one item after the other until nullptr, middle(item) runs in parallel, last(item) in the
// order of first; at most `in_flight` items are under way.
template <class Item, class First, class Middle, class Last>
void parallel_pipeline(std::size_t in_flight, const First &first, const Middle &middle, const Last &last) {
    using oneapi::tbb::filter_mode, oneapi::tbb::make_filter;
    Handover handover;
    const ArriveOnExit drained{handover};
    handover.depart();
    Polled *const polled = polled_here();
    const auto feed = [&](oneapi::tbb::flow_control &flow) -> Item * {
        const PolledScope scope(polled);
        handover.arrive();
        const DepartOnExit done{handover};
        Item *item = first();
        if (!item) flow.stop();
        return item;
    };
    const auto work = [&](Item *item) {
        const PolledScope scope(polled);
        handover.arrive();
        const DepartOnExit done{handover};
        middle(*item);
        return item;
    };
    const auto drain = [&](Item *item) {
        const PolledScope scope(polled);
        handover.arrive();
        const DepartOnExit done{handover};
        last(*item);
    };
    Context context(Context::isolated);
    oneapi::tbb::parallel_pipeline(in_flight,
                                   make_filter<void, Item *>(filter_mode::serial_in_order, feed) &
                                       make_filter<Item *, Item *>(filter_mode::parallel, work) &
                                       make_filter<Item *, void>(filter_mode::serial_in_order, drain),
                                   context);
}

} // namespace libperm
