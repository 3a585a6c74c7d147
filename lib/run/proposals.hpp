// What engines are asked: how would you compute this block, on this machine, in these numbers?
#pragma once

#include "lib/input/options.hpp"
#include "lib/run/block_values.hpp"
#include "lib/run/candidate.hpp"
#include "lib/run/plan_machine.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/repeated_lines.hpp"

#include <functional>
#include <vector>

namespace libperm {

class Proposals {
  public:
    const Pattern &a, &at; // the block and its transpose
    const Kinds &kinds;
    const BlockValues &values;
    const Options &options;
    RunControl &control;
    double effort; // of searches, for a rough idea of the cost less than 1
    PlanMachine machine;
    double bits;                                 // that a permanent of integers is expected to have
    std::vector<Candidate> candidates;           // that have been proposed
    std::shared_ptr<const EnginePlan> sliceable; // of an engine that can be cut to fit any memory
    // Seconds that a sum over subsets is expected to take, on one thread or the GPU, found quickly; infinite
    // if that is not worth while.
    std::function<double()> outlook;

    Proposals(const Pattern &block, const Pattern &transposed, const Kinds &lines,
              const BlockValues &of_values, const Options &of_call, RunControl &of_plan, double of_searches);

    bool asks_for(Engine engine) const { return options.engine == engine; }
    // Whether the engine may be the one, and runs on a CPU.
    bool wants_on_cpu(Engine engine) const {
        return asks_for(engine) || (!options.names_engine() && options.device != Device::gpu);
    }
    bool asks_for_gpu() const;
    bool may_use_gpu() const;

    // What the best candidate so far takes on one thread.
    double least_seconds() const;
    // What slices may take on one thread: beyond that they are forbidden, or there is something better.
    double worthwhile_seconds() const;

    // Its seconds, and whether the limits refuse it.
    void judge(Candidate &c) const;
    // The same of one in doubles for the numbers of the plan.
    Candidate judged(Candidate c, const Slowdown &slowdown) const;
    void add(Candidate c, const Slowdown &slowdown) { candidates.push_back(judged(std::move(c), slowdown)); }

    Poll poll() const {
        return [&to = control] { to.poll(); };
    }
};

constexpr double worth_a_gpu = 1; // second of one thread: below, starting the GPU takes longer

} // namespace libperm
