// What an engine hands back.
#pragma once

#include "lib/number/ball.hpp"

#include <cstdint>
#include <variant>
#include <vector>

namespace libperm {

// What a computation took; `states` and `subsets` are those met, `operations` multiply-adds.
struct Counts {
    double subsets = 0, states = 0, peak_states = 0, operations = 0;
    std::int64_t peak_bytes = 0;
    double seconds_compile = 0; // from the request of kernels to their being loaded
    std::int32_t kernels_compiled = 0;
    std::int32_t slices = 0; // that the frontier's tables were cut into

    Counts &operator+=(const Counts &other); // one after the other
};

using ResidueVector = std::vector<std::uint64_t>; // by matrix of Residues

struct EngineResult {
    std::variant<Ball, WideBall, ResidueVector> value; // of a Block, an ExactBlock, Residues
    Counts counts;
    bool grid_matters =
        false; // entries were rounded to a grid, and signs differ (lib/subsets/fixed_point_double.hpp)
};

} // namespace libperm
