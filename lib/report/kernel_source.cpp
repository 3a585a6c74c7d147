#include "lib/report/report.hpp"

#include "jit/compile/kernels.hpp"
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/plan/engines.hpp"
#include "lib/run/gpu_device.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace libperm {
namespace {

// "a, b or c", in the order in which they propose.
std::string engines_with_kernels() {
    std::vector<const char *> names;
    for (const EngineInfo &engine : engine_table())
        if (has_kernel(engine.id)) names.push_back(engine_name(engine.id));
    std::string text;
    for (std::size_t k = 0; k < names.size(); ++k)
        text += (k == 0 ? "" : k + 1 < names.size() ? ", " : " or ") + std::string(names[k]);
    return text;
}

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

std::string source_of(const Plan &plan) {
    const BlockPlan *block = plan.main_block();
    if (!block)
        throw Error(PERM_UNSUPPORTED,
                    formatted("the reductions alone give the answer, and no kernel is run: leave them "
                              "out (without all) and ask for engine {}",
                              engines_with_kernels()));
    const Candidate &best = block->best();
    if (facts_of(best.engine).transfers_states && best.refusal == PERM_UNSUPPORTED && !best.lacks_gpu)
        throw Error(PERM_UNSUPPORTED, formatted("there is no such kernel: engine {} {}; ask for engine {}",
                                                name_of(best), best.why_not, engines_with_kernels()));
    const auto source = info_of(best.engine).source;
    if (!source || !(has_kernel(best.engine) || (best.plan && best.on_gpu)))
        throw Error(
            PERM_UNSUPPORTED,
            formatted("engine {} runs on the CPU and has no kernel: ask for engine {}, or for device gpu",
                      engine_name(best.engine), engines_with_kernels()));
    KernelSource kernel = source(best, block->numbers, block->nonnegative);
    if (!kernel.why_not.empty())
        throw Error(
            PERM_UNSUPPORTED,
            formatted("there is no such kernel: engine {} {} (n = {}, {} entries); ask for another of {}",
                      engine_name(best.engine), kernel.why_not, block->n, block->nnz,
                      engines_with_kernels()));
    return std::move(kernel.text);
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
