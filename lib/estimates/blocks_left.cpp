#include "lib/estimates/blocks_left.hpp"

#include "lib/execute/block_run.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/structure/find_structure.hpp"

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

} // namespace

template <class Value>
BlocksLeft<Value>::BlocksLeft(const InputPattern &input, const Values &values, const Options &options)
    : known(ball_of(number_one<Value>())),
      options_(options_of_exact_blocks(options)),
      values_(block_values_of<Value>(values, options_)) {
    multiply_blocks<Value>(input, values, options.passes, *this);
}

template <class Value> void BlocksLeft<Value>::number(const Value &x) {
    is_zero = is_zero || libperm::is_zero(x);
    known = known * ball_of(x);
}

template <class Value> void BlocksLeft<Value>::zero_block() {
    is_zero = true;
    ++blocks;
    ++blocks_exact;
}

template <class Value> void BlocksLeft<Value>::block(LeafOf<Value> leaf) {
    ++blocks;
    Left one{std::move(leaf), {}};
    if (!computed_within(at_once, one)) left.push_back(std::move(one));
}

template <class Value> bool BlocksLeft<Value>::computed_within(double seconds, Left &one) {
    const Pattern &pattern = one.leaf.block.pattern;
    Structure structure;
    if (options_.passes.structure) structure = structure_of(one.leaf.block, &call().memory());
    const bool is_far = structure.is_none() && seconds <= at_once && pattern.rows > many_subsets &&
                        least_frontier(pattern).expansions > seconds * operations_a_second;
    if (is_far || (one.plan && seconds < 1)) return false;
    BlockValues values = values_;
    values.structure = &structure;
    one.plan =
        plan_block(pattern, one.leaf.kinds, values, options_, seconds <= at_once ? at_once_effort : effort);
    if (one.plan->refusal != PERM_OK || one.plan->best().cost.serial_seconds > seconds) return false;
    compute(std::move(one));
    return true;
}

template <class Value> void BlocksLeft<Value>::compute(Left one) {
    ++blocks_exact;
    const Outcome outcome = run_block({*one.plan, options_, call().memory(), {}}, std::move(one.leaf.block));
    known = known * ball_of_outcome<Value>(outcome);
}

template class BlocksLeft<Tracked>;
template class BlocksLeft<Gaussian>;

} // namespace libperm
