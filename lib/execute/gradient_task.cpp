#include "lib/execute/gradient_task.hpp"

#include "jit/compile/digest.hpp"
#include "lib/base/error.hpp"
#include "lib/execute/plan_task.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/call.hpp"
#include "lib/run/outcome_bytes.hpp"
#include "lib/run/pieces.hpp"
#include "lib/saved/plan.hpp"
#include "preprocess/index.hpp"

#include <utility>

namespace libperm {

template <class Archive> void fields(Archive &ar, Derivatives &found) {
    const std::size_t numbers = found.numbers.size(), bounds = found.bounds.size();
    ar(found.numbers, found.bounds);
    require(found.numbers.size() == numbers && found.bounds.size() == bounds, "derivatives");
    fields(ar, found.permanent);
    fields(ar, found.outcome);
    found.outcome.blocks = found.outcome.blocks_computed = 1;
}

GradientTask::GradientTask(const GradientSource &of, const std::string *way) : of_(of) {
    const InputPattern &input = of.plan.input;
    matrix_ = digest_of_bytes(written(input) + written(as_given(input)));
    numbers_ = digest_of(read_values(input, of.values, &call().memory()));
    const std::optional<std::string> kept = plan_in_checkpoint(of.plan.options, TaskIdentity::derivatives);
    choose(way ? way : kept ? &*kept : nullptr);
}

void GradientTask::choose(const std::string *way) {
    if (!way) {
        engine_ = of_.gradient.way(of_.plan, of_.direct).engine();
        return;
    }
    for (const Goal goal : {Goal::dense, Goal::inverse, Goal::minors, Goal::gradient})
        if (engine_ = engine_for(goal); *way == plan()) break;
    if (*way != plan())
        throw Error(PERM_BAD_ARGUMENT, "the derivatives were begun in a way that there is not: begin anew");
    if (engine_ != engine_for(Goal::gradient)) // whose tape is made when it is needed
        of_.gradient.way_by(engine_, of_.plan, of_.direct);
}

std::int64_t GradientTask::numbers() const { return values_given(of_.plan.input); }

TaskIdentity GradientTask::identity() const {
    return {TaskIdentity::derivatives,
            {{matrix_, "another matrix"},
             {numbers_, "other values"},
             {digest_of_bytes(plan()),
              "derivatives that are computed otherwise, as options, versions or machines differ"}}};
}

ShardCount GradientTask::shards() const {
    return by_sums() ? shards_of_sums(of_.plan) : ShardCount{1, of_.plan.seconds};
}

KeptAbout GradientTask::about() const {
    KeptAbout it;
    it.n = of_.plan.n();
    it.entries = of_.plan.input.pattern.nnz();
    it.way = plan();
    const ShardCount all = shards();
    it.seconds = all.seconds * static_cast<double>(all.count) / of_.plan.options.threads;
    return it;
}

std::string GradientTask::plan() const { return engine_name(engine_); }

Derivatives GradientTask::nothing() const {
    Derivatives none;
    none.numbers.resize(at(numbers()) * parts());
    none.bounds.resize(at(numbers()));
    return none;
}

Derivatives GradientTask::derive() const {
    const GradientWay way = of_.gradient.way_by(engine_, of_.plan, of_.direct);
    Derivatives found = nothing();
    found.permanent = way.run(of_.plan, of_.plan.options.threads, of_.values, found.numbers.data(),
                              found.bounds.data(), found.outcome);
    return found;
}

Derivatives GradientTask::run(PieceStore *store, const Told &) const {
    CurrentCall own(1, PieceScope{store, {}});
    if (by_sums()) return derive();
    const auto whole = [&](std::span<const std::uint64_t>, const auto &done) {
        call().begin_piece();
        done(0, derive());
    };
    return std::move(parts_of_pieces(1, 1, nothing(), whole).front());
}

} // namespace libperm
