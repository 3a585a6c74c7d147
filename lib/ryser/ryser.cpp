#include "lib/ryser/ryser.hpp"

namespace libperm {
namespace {

EngineResult sum_of(const RyserPlan &plan, const EngineInput &input) {
    if (const Residues *residues = input.residues()) return ryser_modular(plan, *residues);
    if (const Block *block = input.block()) return ryser_real(plan, *block);
    return ryser_wide(plan, *input.exact(), input.arithmetic());
}

} // namespace

EngineResult run_ryser(const RyserPlan &plan, const EngineInput &input) {
    EngineResult result = sum_of(plan, input);
    const Residues *residues = input.residues();
    result.counts.operations =
        ryser_cost(plan).operations * (residues ? static_cast<double>(residues->primes.size()) : 1);
    return result;
}

EngineResult run_ryser(const EngineRun &run, const EngineInput &input) {
    return run_ryser(*plan_as<RyserPlan>(run.choice), input);
}

} // namespace libperm
