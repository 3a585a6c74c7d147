// The dense form with numbers that are not doubles.
#include "lib/frontier/dense.hpp"

namespace libperm {

EngineResult run_wide_dense_frontier(const FrontierRun &run) {
    return run.input.wide() ? compute_wide<DenseFrontier>(run) : compute_residues<DenseFrontier>(run);
}

} // namespace libperm
