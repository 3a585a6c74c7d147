// The blocks of a matrix that its matchings are drawn in: what is taken in one has nothing to do with the
// others. A graph is one.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/pattern.hpp"
#include "preprocess/tracked.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

struct SampledPart {
    static constexpr std::int32_t no_row = -1; // of what is no entry of the caller's
    static constexpr std::int64_t entry_bytes = sizeof(Tracked) + 3 * sizeof(std::int32_t);

    Pattern pattern;
    std::vector<Tracked> entries;          // each above 0
    std::vector<std::int32_t> row, column; // of each entry, in the caller's matrix
    std::int32_t free_rows = 0, free_columns = 0;
};

// `values` as read_values has them, in the pattern's order. Throws Error where they are no weights of
// matchings, or no matching has any.
std::vector<SampledPart> sampled_parts(const InputPattern &input, const Values &values, RunControl &control);

} // namespace libperm
