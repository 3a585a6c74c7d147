// The derivatives of a plan's permanent as a task: by sums over signs its pieces are those of the sums, by
// other ways there is one, the whole.
#pragma once

#include "lib/execute/plan_gradient.hpp"
#include "lib/run/tasks.hpp"

#include <string>
#include <vector>

namespace libperm {

struct Derivatives {
    TapeAnswer permanent;
    Outcome outcome; // goes with it
    std::vector<double> numbers, bounds;
};

// What the derivatives are of; all outlive whoever has it.
struct GradientSource {
    const Plan &plan;
    const TapePlan *direct; // may be null
    const PlanGradient &gradient;
    const void *values; // the caller's
};

class GradientTask final : public TaskOf<Derivatives> {
  public:
    // The way is chosen here. `way`: plan() of the same task elsewhere, which goes the same; null: that of
    // the options' checkpoint, or the quicker. Throws Error.
    GradientTask(const GradientSource &of, const std::string *way = nullptr);

    std::int64_t numbers() const; // derivatives, complex ones counted once
    std::size_t parts() const { return of_.plan.input.value_type == PERM_VALUE_C128 ? 2 : 1; }

    TaskIdentity identity() const override;
    ShardCount shards() const override;
    KeptAbout about() const override;
    std::string plan() const override; // the name of the way
    bool is_plan(const std::string &bytes) const override { return bytes == plan(); }
    Derivatives run(PieceStore *store, const Told &told) const override;

  private:
    void choose(const std::string *way);
    Derivatives nothing() const;
    bool by_sums() const { return engine_ == engine_for(Goal::dense); }
    Derivatives derive() const;

    const GradientSource of_;
    std::string matrix_, numbers_; // digests
    Engine engine_ = Engine::none; // the way's
};

} // namespace libperm
