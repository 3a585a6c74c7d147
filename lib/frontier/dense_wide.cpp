// The dense form with numbers that are not doubles.
#include "lib/frontier/dense.hpp"

namespace libperm {

EngineResult run_wide_dense_frontier(const FrontierRun &run) { return compute_other<DenseFrontier>(run); }

} // namespace libperm
