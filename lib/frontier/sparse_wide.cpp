// The sparse form with numbers that are not doubles. Keys of fewer widths: each is compiled for seven kinds
// of numbers.
#include "lib/frontier/sparse.hpp"

namespace libperm {
namespace {

template <int Words> struct Keys {
    template <class Numbers> using Frontier = SparseFrontier<Words, Numbers>;
};

} // namespace

Outcome run_sparse_frontier(const WideFrontierRun &run) {
    switch (sparse_key_words(run.program, run.input.arithmetic)) {
    case 1:
        return compute_wide<Keys<1>::Frontier>(run);
    case 4:
        return compute_wide<Keys<4>::Frontier>(run);
    case 64:
        return compute_wide<Keys<64>::Frontier>(run);
    default:
        throw_too_wide(run.program);
    }
}

std::vector<std::uint64_t> run_sparse_frontier(const ResidueFrontierRun &run, Outcome &counts) {
    switch (sparse_key_words(run.program, Arithmetic::modular)) {
    case 1:
        return compute_residues<Keys<1>::Frontier>(run, counts);
    case 4:
        return compute_residues<Keys<4>::Frontier>(run, counts);
    case 64:
        return compute_residues<Keys<64>::Frontier>(run, counts);
    default:
        throw_too_wide(run.program);
    }
}

} // namespace libperm
