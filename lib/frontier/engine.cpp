// Engine `frontier` as a plan runs it.
#include "lib/frontier/branches_on_device.hpp"
#include "lib/frontier/frontier.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/frontier/plan.hpp"
#include "lib/frontier/slices.hpp"
#include "lib/input/options.hpp"

#include <optional>

namespace libperm {
namespace {

EngineResult run_on(const EngineRun &run, const FrontierInput &input) {
    const Candidate &choice = run.choice;
    const FrontierForm form = form_of(choice);
    const FrontierRun whole{input, plan_as<FrontierPlan>(choice)->program, run.memory, run.options.threads};
    const auto by_one = [&](const auto &work) {
        return SliceWorkers{one_worker,
                            [&work](std::size_t, const FrontierProgram &program) { return work(program); }};
    };
    if (!choice.on_gpu) {
        const auto work = [&](const FrontierProgram &p) { return run_frontier(form, whole.of(p)); };
        return run_in_slices(whole, slices_of(choice), by_one(work));
    }
    if (form == FrontierForm::dense)
        return run_dense_frontier_on(run.gpus.when_needed(), whole, slices_of(choice));
    const auto work = [&](const FrontierProgram &) {
        return form == FrontierForm::branches ? run_branches_on(run.gpus.first(), whole)
                                              : run_sparse_frontier_on(run.gpus.first(), whole);
    };
    return run_in_slices(whole, {}, by_one(work));
}

} // namespace

EngineResult run_frontier_engine(const EngineRun &run, const EngineInput &input) {
    if (const Residues *residues = input.residues()) return run_on(run, *residues);
    if (const Block *block = input.block()) return run_on(run, *block);
    return run_on(run, wide_entries(*input.exact(), input.arithmetic(), run.options.passes.scaling));
}

} // namespace libperm
