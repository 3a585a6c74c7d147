#include "lib/frontier/branches.hpp"

#include "preprocess/branch_program.hpp"

namespace libperm {
namespace {

template <int Words> struct BranchKeys {
    template <class Numbers> using Frontier = BranchFrontier<Words, Numbers>;
};

} // namespace

EngineResult run_branches(const FrontierRun &run) {
    if (branch_key_words(run.program) == 0) throw_too_wide(run.program);
    if (!run.input.block()) return run_wide_branches(run);
    return branch_key_words(run.program) == 1 ? compute_real<BranchKeys<1>::Frontier>(run)
                                              : compute_real<BranchKeys<2>::Frontier>(run);
}

int branch_key_words(const FrontierProgram &program) {
    return program.slots <= 64 ? 1 : program.slots <= widest_list ? 2 : 0;
}

} // namespace libperm
