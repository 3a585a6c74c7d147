// The dense form with numbers that are not doubles.
#include "lib/frontier/dense.hpp"

namespace libperm {

Outcome run_dense_frontier(const WideFrontierRun &run) { return compute_wide<DenseFrontier>(run); }

std::vector<std::uint64_t> run_dense_frontier(const ResidueFrontierRun &run, Outcome &counts) {
    return compute_residues<DenseFrontier>(run, counts);
}

} // namespace libperm
