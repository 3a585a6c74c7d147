// Branches with numbers that are not doubles.
#include "lib/frontier/branches.hpp"

namespace libperm {

EngineResult run_wide_branches(const FrontierRun &run) { return compute_other<WideBranches>(run); }

} // namespace libperm
