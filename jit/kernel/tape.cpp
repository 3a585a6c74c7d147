#include "jit/kernel/tape.hpp"

#include "jit/compile/nvrtc.hpp"
#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {

const char *tape_entry(Arithmetic arithmetic, bool magnitudes) {
    if (is_twofold(arithmetic)) return "perm_tape_twofold";
    return magnitudes ? "perm_tape_with_magnitudes" : "perm_tape";
}

KernelRecipe tape_kernel(Arithmetic arithmetic, bool magnitudes, int threads) {
    KernelRecipe recipe;
    const std::string name = formatted("{} numbers{}, {} threads", arithmetic_name(arithmetic),
                                       magnitudes ? " and magnitudes" : "", threads);
    recipe.key = formatted("tape: {}\ngenerator {}\n", name, generator_digest);
    recipe.source = [arithmetic, magnitudes, threads, name] {
        return formatted("// libperm: tapes, {}.\n\n", name) + number_cuh +
               formatted("\ntypedef {} Arith;\nconstexpr bool with_magnitudes = {};\n"
                         "constexpr unsigned doubles_of_value = {};\n\n",
                         arithmetic_type(arithmetic), magnitudes, is_twofold(arithmetic) ? 2 : 1) +
               tape_cuh +
               formatted("\nextern \"C\" __global__ void __launch_bounds__({})\n"
                         "{}(const __grid_constant__ Tape tape) {{\n"
                         "    extern __shared__ __align__(16) unsigned char shared_memory[];\n"
                         "    run(tape, shared_memory);\n}}\n",
                         threads, tape_entry(arithmetic, magnitudes));
    };
    recipe.flags = kernel_flags();
    recipe.entries = {tape_entry(arithmetic, magnitudes)};
    return recipe;
}

std::size_t tape_shared_bytes(const Tape &tape, Arithmetic arithmetic, bool magnitudes) {
    const auto parts = static_cast<std::size_t>(parts_of(arithmetic));
    const std::size_t states = states_kept(tape);
    const std::size_t rows = static_cast<std::size_t>(tape.n); // each with two numbers of four bytes
    return 8 * (parts * (static_cast<std::size_t>(tape.nnz) + 1 + states) + (magnitudes ? states : 0) + rows);
}

} // namespace libperm
