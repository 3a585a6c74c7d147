#include "lib/frontier/forms.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/number/state_number.hpp"

#include <algorithm>

namespace libperm {

bool is_nonnegative(const Block &block) {
    return std::all_of(block.values.begin(), block.values.end(),
                       [](const Tracked &x) { return is_zero(x) || x.value == x.magnitude; });
}

EngineResult FrontierInput::zero() const {
    if (block()) return {Ball{}, {}};
    if (residues()) return {ResidueVector(residues()->primes.size(), 0), {}};
    return {WideBall{}, {}};
}

EngineResult run_frontier(FrontierForm form, const FrontierRun &run) {
    if (form == FrontierForm::dense && run.program.slots > most_dense_slots)
        throw Error(PERM_INTERNAL, "engine frontier: a table of more columns than a set has");
    switch (form) {
    case FrontierForm::sparse:
        return run_sparse_frontier(run);
    case FrontierForm::dense:
        return run_dense_frontier(run);
    case FrontierForm::branches:
        return run_branches(run);
    }
    throw Error(PERM_INTERNAL, "engine frontier: an unknown form");
}

int sparse_key_words(const FrontierProgram &program) {
    for (const int made : {1, 4, 64}) // those that are compiled
        if (program.slots <= 64 * made) return made;
    return 0;
}

int sparse_device_words(const FrontierProgram &program) {
    for (const int made : {1, 2, 4, 8, 16, 64})
        if (program.slots <= 64 * made) return made;
    return 0;
}

int key_words(FrontierForm form, const FrontierProgram &program) {
    return form == FrontierForm::branches ? branch_key_words(program)
           : form == FrontierForm::sparse ? sparse_key_words(program)
                                          : 0;
}

void throw_too_wide(const FrontierProgram &program) {
    throw Error(PERM_UNSUPPORTED, formatted("engine frontier: states of {} bits, at most {} can be",
                                            program.slots, program.branches.empty() ? 4096 : 128));
}

std::int64_t number_bytes(const StateNumbers &numbers) {
    const bool residues = numbers.arithmetic == Arithmetic::modular;
    return std::int64_t{8} * numbers.doubles() * (residues ? residue_pass(numbers.matrices) : 1);
}

} // namespace libperm
