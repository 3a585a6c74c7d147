// Progress, cancelling, the time limit and the memory of one call, as its workers see them, and what they
// need not do. Nobody passes it on: a thread knows the call that it works for.
#pragma once

#include "lib/input/call_watch.hpp"
#include "lib/run/memory_budget.hpp"
#include "lib/run/piece_store.hpp"
#include "preprocess/limits.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace libperm {

class Call final : public Polled {
  public:
    explicit Call(const CallWatch &watch = {}) : watch_(watch) {}

    // A part of another call's work, whose unit is `scale` of the other's units.
    Call(Call &whole, double scale) : Call(whole, scale, whole.pieces_) {}
    Call(Call &whole, double scale, const PieceScope &pieces)
        : watch_(whole.watch_), whole_(&whole), scale_(scale), pieces_(pieces) {}

    // One of several computations that share a call, each with all the memory there may be.
    struct OwnMemory {};
    Call(Call &whole, double scale, OwnMemory) : Call(whole, scale) { owns_memory_ = true; }

    // The whole call's.
    MemoryBudget &memory() { return whole_ && !owns_memory_ ? whole_->memory() : memory_; }

    // Where the parts of its engine's sum are.
    const PieceScope &pieces() const { return pieces_; }

    // From now on progress is counted towards `work`, in any unit, expected to take `seconds`; 0: towards
    // what nobody knows yet. The fraction that was told stands until it is passed.
    void begin(double work, double seconds);

    // What was begun takes another run of so much work.
    void expect_more(double work);

    // Is called at the end of a call that has its answer: only then the fraction that is told is 1, and
    // nothing is told from then on.
    void finish();

    // Called by any thread after a piece of work of a millisecond or so. Throws Error (PERM_CANCELLED,
    // PERM_REFUSED_TIME) once the call is to stop.
    void advance(double work) { advance(work, spares_pieces() ? to_finish : 0); }

    void poll() override { advance(0); }
    Call *call() override { return this; }

    // Before a piece whose part is kept is begun: once a call is to stop no other is, and those under way
    // have some seconds to come to their end.
    void begin_piece();

    // Counts work that was done before.
    void skip(double work);

    double fraction() const; // of its work that is done

    // Runs on a thread of its own, which the call waits for however it ends; each work is begun once.
    void begin_beside(void (*work)() noexcept);

  private:
    using Clock = std::chrono::steady_clock;

    static constexpr double to_finish = 10; // seconds that pieces under way have

    bool spares_pieces() const { return pieces_.store && pieces_.store->spares_pieces(); }
    void advance(double work, double patience);
    void stop_if_asked(Clock::time_point now, double patience) const;
    void call_back(Clock::time_point now);

    const CallWatch watch_;
    MemoryBudget memory_{watch_.memory_limit};
    Call *whole_ = nullptr;
    double scale_ = 1;
    bool owns_memory_ = false;
    const Clock::time_point start_ = Clock::now();
    PieceScope pieces_;
    std::atomic<double> done_{0}, total_{0}, skipped_{0};
    double expected_seconds_ = 0, shown_ = 0;
    Clock::time_point begun_ = start_;
    std::atomic<Clock::rep> next_callback_{0};
    std::atomic<int> stop_{PERM_OK}; // the perm_status to stop with
    std::atomic<bool> is_answered_{false};
    std::atomic<Clock::rep> asked_to_stop_{0};
    std::mutex callback_mutex_;
    std::mutex beside_mutex_;
    std::vector<std::pair<void (*)() noexcept, std::jthread>> beside_;
};

// The call that this thread works for; where it works for none, one that nobody asked for and nothing stops.
Call &call();

// A call, or a part of the thread's, that the thread works for as long as the scope lasts.
class CurrentCall {
  public:
    explicit CurrentCall(const CallWatch &watch = {}) : call_(watch) {}
    template <class... Of>
    explicit CurrentCall(double scale, const Of &...of) : call_(libperm::call(), scale, of...) {}

    Call *operator->() { return &call_; }
    Call &operator*() { return call_; }

  private:
    Call call_;
    PolledScope scope_{&call_};
};

// work() with a part of the call whose own progress does not count.
template <class Work> auto uncounted(const Work &work) {
    const CurrentCall part(0);
    return work();
}

} // namespace libperm
