#include "lib/estimates/blocks_left.hpp"

#include "lib/execute/block_run.hpp"
#include "lib/frontier/cost.hpp"
#include "preprocess/matching.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace libperm {
namespace {

constexpr double at_once = 0.3; // seconds: what is computed exactly without asking what an estimate takes
constexpr double at_once_effort = 0.02,
                 effort = 0.3;              // of the search for orders, for that and for what takes longer
constexpr double operations_a_second = 1e9; // of a frontier, at most
constexpr std::int32_t many_subsets = 28;   // rows, of whose subsets there are too many at once

Options options_of_exact_blocks(const Options &given) {
    Options options = given;
    options.engine = Engine::automatic;
    options.device = Device::cpu;
    options.precision = Precision::automatic;
    options.modulus = 0;
    options.passes.scaling = true;
    options.checkpoint.clear();
    return options;
}

template <class Value> auto ball_of_outcome(const Outcome &outcome) -> typename BallOf<Value>::type {
    if constexpr (std::is_same_v<Value, Tracked>)
        return {outcome.value, outcome.error};
    else
        return {outcome.wide.value_or(Gaussian()), outcome.error};
}

} // namespace

template <class Value>
BlocksLeft<Value>::BlocksLeft(const InputPattern &input, const Values &values, const Options &options,
                              RunControl &control)
    : known(ball_of(number_one<Value>())), options_(options_of_exact_blocks(options)), control_(control) {
    values_.numbers = numbers_of(options_, !std::is_same_v<Value, Tracked>);
    values_.nonnegative = !some_negative(values);
    values_.may_be_long = some_long(values);
    const Poll poll = [&control] { control.poll(); };
    DecompositionRule<Value> rule;
    rule.passes = options.passes;
    if (!std::is_same_v<Value, Tracked>) rule.passes.degree_2 = false; // sums of fractions grow
    rule.poll = poll;
    rule.account = &control.memory();
    Decomposition<Value> decomposition(root_block<Value>(input, values, control), std::move(rule));
    // Nothing is expanded, so all that comes is to be multiplied.
    for (StepOf<Value> step; decomposition.next(step);) {
        control.poll();
        if (auto *leaf = std::get_if<LeafOf<Value>>(&step)) {
            ++blocks;
            take(std::move(*leaf));
        } else if (const auto *number = std::get_if<Value>(&step)) {
            is_zero = is_zero || libperm::is_zero(*number);
            known = known * ball_of(*number);
        }
    }
    if (input.free_lines() > 0) {
        mpz_class ways;
        mpz_fac_ui(ways.get_mpz_t(), static_cast<unsigned long>(input.free_lines()));
        known = known / ways;
    }
}

template <class Value> void BlocksLeft<Value>::take(LeafOf<Value> leaf) {
    const bool has_zeros = std::any_of(leaf.block.values.begin(), leaf.block.values.end(),
                                       [](const Value &x) { return libperm::is_zero(x); });
    if (has_zeros &&
        maximum_matching(nonzero_pattern(leaf.block), [this] { control_.poll(); }).size < leaf.block.n()) {
        is_zero = true;
        ++blocks_exact;
        return;
    }
    Left one{std::move(leaf), {}};
    if (!computed_within(at_once, one)) left.push_back(std::move(one));
}

template <class Value> bool BlocksLeft<Value>::computed_within(double seconds, Left &one) {
    const Pattern &pattern = one.leaf.block.pattern;
    const bool is_far = seconds <= at_once && pattern.rows > many_subsets &&
                        least_frontier(pattern).expansions > seconds * operations_a_second;
    if (is_far || (one.plan && seconds < 1)) return false;
    one.plan = plan_block(pattern, one.leaf.kinds, values_, options_, control_,
                          seconds <= at_once ? at_once_effort : effort);
    if (one.plan->refusal != PERM_OK || one.plan->best().cost.serial_seconds > seconds) return false;
    compute(std::move(one));
    return true;
}

template <class Value> void BlocksLeft<Value>::compute(Left one) {
    ++blocks_exact;
    const Outcome outcome =
        run_block({*one.plan, options_, control_, control_.memory(), {}}, std::move(one.leaf.block));
    known = known * ball_of_outcome<Value>(outcome);
}

template class BlocksLeft<Tracked>;
template class BlocksLeft<Gaussian>;

} // namespace libperm
