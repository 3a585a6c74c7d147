#include "jit/kernel/tape.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {
namespace {

std::size_t bytes_of_states(const Tape &tape, TapeForm form) {
    const auto doubles = static_cast<std::size_t>(parts_of(form.arithmetic)) + (form.magnitudes ? 1 : 0);
    return 8 * doubles * states_kept(tape);
}

} // namespace

const char *tape_entry(TapeForm form) {
    if (is_dd(form.arithmetic)) return form.in_memory ? "perm_tape_twofold_in_memory" : "perm_tape_twofold";
    if (form.magnitudes)
        return form.in_memory ? "perm_tape_with_magnitudes_in_memory" : "perm_tape_with_magnitudes";
    return form.in_memory ? "perm_tape_in_memory" : "perm_tape";
}

KernelRecipe tape_kernel(TapeForm form, int threads) {
    const std::string name = formatted("{} numbers{}{}, {} threads", arithmetic_name(form.arithmetic),
                                       form.magnitudes ? " and magnitudes" : "",
                                       form.in_memory ? ", states in memory" : "", threads);
    const auto source = [form, threads, name] {
        return formatted("// libperm: tapes, {}.\n\n", name) + numbers_text(form.arithmetic) +
               formatted("constexpr bool with_magnitudes = {}, states_in_memory = {};\n"
                         "constexpr unsigned doubles_of_value = {};\n\n",
                         form.magnitudes, form.in_memory, is_dd(form.arithmetic) ? 2 : 1) +
               tape_cuh +
               entry_text(tape_entry(form), std::to_string(threads), "const __grid_constant__ Tape tape",
                          formatted("{}    run(tape, shared_memory);\n", shared_memory_text));
    };
    return recipe_of("tape: " + name, source, {tape_entry(form)});
}

std::size_t tape_shared_bytes(const Tape &tape, TapeForm form) {
    const auto parts = static_cast<std::size_t>(parts_of(form.arithmetic));
    const std::size_t rows = static_cast<std::size_t>(tape.n); // each with two numbers of four bytes
    return 8 * (parts * (static_cast<std::size_t>(tape.nnz) + 1) + rows) +
           (form.in_memory ? 0 : bytes_of_states(tape, form));
}

std::size_t tape_room_bytes(const Tape &tape, TapeForm form) {
    constexpr std::size_t line = 128; // of the cache
    return form.in_memory ? (bytes_of_states(tape, form) + line - 1) / line * line : 0;
}

} // namespace libperm
