#include "lib/frontier/sparse.hpp"

namespace libperm {

double sparse_peak_bytes(double peak_states, double peak_candidates, int key_words,
                         const StateNumbers &numbers) {
    const double state = static_cast<double>(8 * key_words + number_bytes(numbers));
    const double chunks = peak_candidates > static_cast<double>(serial_candidates) ? chunks_in_flight : 1;
    const auto size = static_cast<double>(chunk_size(static_cast<std::size_t>(std::min(peak_states, 1e9))));
    return state * (2.25 * peak_states +
                    chunks * 4 * std::min(peak_candidates + 256, size)); // a chunk may hold twice its share
}

EngineResult run_sparse_frontier(const FrontierRun &run) {
    if (!run.input.block()) return run_wide_sparse_frontier(run);
    return with_keys(run.program,
                     [&run]<class Keys>() { return compute_real<Keys::template Frontier>(run); });
}

} // namespace libperm
