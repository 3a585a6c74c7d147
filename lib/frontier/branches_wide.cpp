// Branches with numbers that are not doubles.
#include "lib/frontier/branches.hpp"

namespace libperm {

EngineResult run_wide_branches(const FrontierRun &run) {
    return run.input.wide() ? compute_wide<WideBranches>(run) : compute_residues<WideBranches>(run);
}

} // namespace libperm
