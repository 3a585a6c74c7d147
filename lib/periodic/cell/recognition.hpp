// A plain matrix that is one of equal cells: block Toeplitz, but for some rows at its head and its tail, or
// block circulant.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/periodic/cell/periodic_matrix.hpp"
#include "preprocess/poll.hpp"

#include <cstdint>
#include <optional>

namespace libperm {

struct RecognizedCells {
    PeriodicMatrix matrix; // its permanent, of so many cells, is that of the plain matrix
    std::int64_t length = 0;
};

// None where the matrix is short, its cells are large, their rows reach far or not to other cells, or it is
// another. Of such that
// are not of equal cells hardly more than two rows are looked at.
std::optional<RecognizedCells> recognized_cells(const Pattern &a, const Values &values);

} // namespace libperm
