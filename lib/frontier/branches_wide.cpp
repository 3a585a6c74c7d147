// Branches with numbers that are not doubles, and with those that have exponents of their own.
#include "lib/frontier/branches.hpp"
#include "lib/frontier/ranged.hpp"

namespace libperm {
namespace {

// Keys of one width: each is compiled for a dozen kinds of numbers.
template <class Numbers> using WideBranches = BranchFrontier<2, Numbers>;

} // namespace

EngineResult run_wide_branches(const FrontierRun &run) {
    return run.input.wide() ? compute_wide<WideBranches>(run) : compute_residues<WideBranches>(run);
}

EngineResult run_ranged_branches(const FrontierRun &run) {
    return run.input.wide() ? compute_wide<WideBranches, RangedNumbers>(run)
                            : compute_real<WideBranches, RangedNumbers>(run);
}

} // namespace libperm
