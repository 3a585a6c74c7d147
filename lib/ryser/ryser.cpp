#include "lib/ryser/ryser.hpp"

namespace libperm {
namespace {

EngineResult sum_of(const RyserPlan &plan, const EngineInput &input, RunControl &control) {
    if (const Residues *residues = input.residues()) return ryser_modular(plan, *residues, control);
    if (const Block *block = input.block()) return ryser_real(plan, *block, control);
    return ryser_wide(plan, *input.exact(), input.arithmetic(), control);
}

} // namespace

EngineResult run_ryser(const RyserPlan &plan, const EngineInput &input, RunControl &control) {
    EngineResult result = sum_of(plan, input, control);
    const Residues *residues = input.residues();
    result.counts.operations =
        ryser_cost(plan).operations * (residues ? static_cast<double>(residues->primes.size()) : 1);
    return result;
}

EngineResult run_ryser(const EngineRun &run, const EngineInput &input) {
    return run_ryser(*plan_as<RyserPlan>(run.choice), input, run.control);
}

} // namespace libperm
