// The sparse form and the dense one with numbers that are not doubles.
#include "lib/frontier/dense.hpp"
#include "lib/frontier/sparse.hpp"

namespace libperm {

EngineResult run_wide_dense_frontier(const FrontierRun &run) { return compute_other<DenseFrontier>(run); }

EngineResult run_wide_sparse_frontier(const FrontierRun &run) {
    return with_keys(run.program,
                     [&run]<class Keys>() { return compute_other<Keys::template Frontier>(run); });
}

} // namespace libperm
