// The sparse form with numbers that are not doubles.
#include "lib/frontier/sparse.hpp"

namespace libperm {
namespace {

template <int Words> struct Keys {
    template <class Numbers> using Frontier = SparseFrontier<Words, Numbers>;
};

template <int Words> EngineResult compute(const FrontierRun &run) {
    return run.input.wide() ? compute_wide<Keys<Words>::template Frontier>(run)
                            : compute_residues<Keys<Words>::template Frontier>(run);
}

} // namespace

EngineResult run_wide_sparse_frontier(const FrontierRun &run) {
    switch (sparse_key_words(run.program)) {
    case 1:
        return compute<1>(run);
    case 4:
        return compute<4>(run);
    case 64:
        return compute<64>(run);
    default:
        throw_too_wide(run.program);
    }
}

} // namespace libperm
