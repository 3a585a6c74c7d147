// Subsets of one size, counted and ranked (Knuth, TAOCP 4A, 7.2.1.3).
#pragma once

#include <cstdint>
#include <vector>

namespace libperm {

// C(w, k), exactly while it fits a double.
inline double subsets_of_size(int w, int k) {
    double c = 1;
    for (int i = 1; i <= k; ++i) c = c * (w - k + i) / i;
    return c;
}

// The ranks of sets of high slots among those of their size: `ranks` of jit/device/frontier_dense.cuh.
std::vector<std::uint32_t> combination_ranks(int high_slots);

} // namespace libperm
