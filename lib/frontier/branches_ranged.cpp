// Branches with numbers that have exponents of their own.
#include "lib/frontier/branches.hpp"

namespace libperm {

EngineResult run_ranged_branches(const FrontierRun &run) { return compute_ranged<WideBranches>(run); }

} // namespace libperm
