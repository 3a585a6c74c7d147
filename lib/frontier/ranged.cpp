// The frontier with numbers that have exponents of their own (lib/number/state_number.hpp), accounted for by
// its ledger.
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/frontier/branches.hpp"
#include "lib/frontier/sparse.hpp"

namespace libperm {

EngineResult run_ranged_frontier(const FrontierRun &run) {
    if (!run.program.branches.empty()) return compute_ranged<WideBranches>(run);
    const int key_words = sparse_key_words(run.program);
    if (key_words == 0) throw_too_wide(run.program);
    return key_words <= 4 ? compute_ranged<SparseKeys<4>::Frontier>(run)
                          : compute_ranged<SparseKeys<64>::Frontier>(run);
}

EngineResult again_in_range(EngineResult first, const FrontierRun &run) {
    log_decision("engine frontier: states have underflowed, so again with exponents of their own");
    const PieceStore *store = call().pieces().store;
    EngineResult again;
    if (!within_limits([&] { again = run_ranged_frontier(run); }, store && store->spares_pieces()))
        return first;
    again.counts += first.counts;
    return again;
}

} // namespace libperm
