#include "lib/report/kernel_source.hpp"

#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/frontier_join.hpp"
#include "jit/kernel/frontier_sparse.hpp"
#include "jit/kernel/subset_source.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/frontier/dense_row.hpp"
#include "lib/frontier/frontier.hpp"
#include "lib/frontier/plan.hpp"
#include "lib/run/plan_machine.hpp"
#include "lib/subsets/plan.hpp"

#include <algorithm>
#include <string_view>

namespace libperm {
namespace {

constexpr const char *engines = "tree, hybrid, purereg, dense or shared";

bool is_target(std::string_view text) {
    for (const std::string_view kind : {"sm_", "compute_"}) {
        if (!text.starts_with(kind)) continue;
        const std::string_view number = text.substr(kind.size());
        return (number.size() == 2 || number.size() == 3) &&
               std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
    }
    return false;
}

// "" if nothing names one.
std::string target_of(const PlanMachine &machine) {
    const NvrtcStatus &nvrtc = nvrtc_status();
    if (machine.has_gpu()) {
        const int capability = machine.gpu().compute_capability;
        try {
            return target_for(capability);
        } catch (const JitError &) { // no NVRTC, or one that does not know so old a GPU
            return formatted("sm_{}", capability);
        }
    }
    return nvrtc.found ? formatted("sm_{}", nvrtc.architectures.back()) : "";
}

// The kernel of the row with most states, of all rows (sparse), of joins (branches).
KernelRecipe frontier_kernel(const BlockPlan &block, const FrontierProgram &program) {
    const StateNumbers numbers(block.numbers.arithmetic(), block.nonnegative);
    if (block.best().form == FrontierForm::sparse)
        return sparse_frontier_kernels({sparse_key_words(program), numbers, program.counts});
    if (block.best().form == FrontierForm::branches)
        return frontier_join_kernels({std::max(1, branch_key_words(program)), numbers});
    const std::vector<RowShape> shapes = kernel_shapes(program);
    std::size_t widest = 0;
    double most = 0;
    for (std::size_t t = 0; t < shapes.size(); ++t) {
        const FrontierStep &step = program.steps[t];
        const double states = subsets_of_size(step.width_after, step.used_after);
        if (states > most) widest = t;
        most = std::max(most, states);
    }
    return dense_frontier_kernel(numbers, shapes[widest]);
}

std::string source_of(const Plan &plan) {
    const BlockPlan *block = plan.main_block();
    if (!block)
        throw Error(PERM_UNSUPPORTED,
                    formatted("the reductions alone give this permanent, and no kernel is run: leave them "
                              "out (without all) and ask for engine {}",
                              engines));
    const Candidate &best = block->best();
    const bool is_frontier = facts_of(best.engine).transfers_states;
    if (is_frontier && best.refusal == PERM_UNSUPPORTED && !best.lacks_gpu)
        throw Error(PERM_UNSUPPORTED, formatted("there is no such kernel: engine {} {}; ask for engine {}",
                                                name_of(best), best.why_not, engines));
    if (const auto *frontier = plan_as<FrontierPlan>(best); frontier && best.on_gpu)
        return frontier_kernel(*block, frontier->program).source();
    if (!has_kernel(best.engine))
        throw Error(
            PERM_UNSUPPORTED,
            formatted("engine {} runs on the CPU and has no kernel: ask for engine {}, or for device gpu",
                      engine_name(best.engine), engines));
    const auto *sum = plan_as<SubsetPlan>(best);
    const std::string why_not = sum ? subsets_why_not(*sum) : best.why_not;
    if (!why_not.empty())
        throw Error(
            PERM_UNSUPPORTED,
            formatted("there is no such kernel: engine {} {} (n = {}, {} entries); ask for another of {}",
                      engine_name(best.engine), why_not, block->n, block->nnz, engines));
    return source_of(sum->kernel);
}

std::string heading(const std::string &target) {
    const NvrtcStatus &nvrtc = nvrtc_status();
    std::string text = formatted("// Target: {}. NVRTC: {}. Flags:",
                                 target.empty() ? "none, for there is neither a GPU nor NVRTC" : target,
                                 nvrtc.found ? nvrtc.version : "none");
    if (!target.empty()) text += " --gpu-architecture=" + target;
    for (const std::string &flag : kernel_flags()) text += " " + flag;
    return text + "\n";
}

} // namespace

std::string kernel_source(const Plan &plan, const char *target) {
    if (target && !is_target(target))
        throw Error(PERM_BAD_OPTION,
                    formatted("unknown arch \"{}\": use sm_NN for machine code or compute_NN "
                              "for PTX, such as sm_90",
                              target));
    const std::string source = source_of(plan);
    return heading(target ? target : target_of(PlanMachine(plan.options))) + source;
}

} // namespace libperm
