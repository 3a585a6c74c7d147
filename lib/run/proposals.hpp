// What engines are asked: how would you compute this block, on this machine, in these numbers?
#pragma once

#include "lib/input/options.hpp"
#include "lib/run/candidates.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/run/kept_orders.hpp"
#include "preprocess/repeated_lines.hpp"
#include "preprocess/search.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace libperm {

// A way to compute a block, proposed or only looked at quickly; infinite: there is none.
struct Outlook {
    double seconds = std::numeric_limits<double>::infinity();         // on one thread, or on the GPU
    double worth_searching = std::numeric_limits<double>::infinity(); // seconds, for a good order
};
inline Outlook better(const Outlook &x, const Outlook &y) { return y.seconds < x.seconds ? y : x; }

class Proposals {
  public:
    const Pattern &a, &at; // the block and its transpose
    const LineClasses &kinds;
    const BlockValues &values;
    const Options &options;
    double effort; // of searches, for a rough idea of the cost less than 1
    PlanMachine machine;
    double bits;                                 // that a permanent of integers is expected to have
    std::vector<Candidate> candidates;           // that have been proposed
    std::shared_ptr<const EnginePlan> sliceable; // of an engine that can be cut to fit any memory
    std::function<Outlook()> outlook;            // of a sum over subsets

    Proposals(const Pattern &block, const Pattern &transposed, const LineClasses &lines,
              const BlockValues &of_values, const Options &of_call, double of_searches);

    // Modulo primes, that a permanent takes in whole numbers; where numbers are not exact by a guess.
    double matrices() const;

    bool asks_for(Engine engine) const { return options.engine == engine; }
    // Whether the engine may be the one, and runs on a CPU.
    bool wants_on_cpu(Engine engine) const {
        return asks_for(engine) || (!options.names_engine() && options.device != Device::gpu);
    }
    // Whether to look for a GPU, which takes as long as many a run. Not where a CPU answers sooner.
    bool asks_for_gpu() const;
    bool may_use_gpu() const;

    // Searches for good orders are to take 20 ms, or 15 % of the run if that is more: of that what one engine
    // may take.
    SearchBudget search_budget(bool on_gpu) const;
    KeptOrders kept_orders() const;
    Outlook outlook_of(const Cost &cost, bool on_gpu) const;
    Outlook best_so_far() const; // of the candidates

    // Whether terms of both signs may leave a run in doubles with fewer digits than the tolerance asks for,
    // so that `auto` goes on.
    bool may_go_on() const;

    // What one thread of a CPU takes by a first idea of an engine, with the runs that are expected to follow;
    // until its candidates are there, of which the limits may forbid all.
    void expect_on_cpu(double seconds) { rough_seconds_ = std::min(rough_seconds_, seconds); }
    void expect_no_more();

    // What the best candidate so far takes on one thread.
    double least_seconds() const;
    // What slices may take on one thread: beyond that they are forbidden, or there is something better.
    double worthwhile_seconds() const;

    // Refuses what would be for a GPU where there is none.
    void require_gpu(Candidate &c) const;
    // Its seconds, and whether the limits refuse it.
    void judge(Candidate &c) const;
    // Judges one that was priced in doubles for the numbers of the plan.
    Candidate judged(Candidate c, const Slowdown &slowdown) const;
    void add(Candidate c, const Slowdown &slowdown) { candidates.push_back(judged(std::move(c), slowdown)); }

  private:
    double rough_seconds_ = std::numeric_limits<double>::infinity();
};

// What an engine says of a block that it does not compute.

// Where the engine is the one that is asked for; else nobody asks.
inline void refuse_block(Proposals &task, Engine engine, std::string why) {
    if (!task.asks_for(engine)) return;
    Candidate c;
    c.engine = engine;
    c.refusal = PERM_UNSUPPORTED;
    c.why_not = std::move(why);
    task.add(std::move(c), {});
}

} // namespace libperm
