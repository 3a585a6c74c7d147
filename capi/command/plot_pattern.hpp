// Sparsity patterns, as gnuplot draws them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace perm {

struct Entry {
    std::int64_t row, col;
    bool dropped; // in no perfect matching
};

struct Outline {
    std::int64_t begin, size; // of a block on the diagonal
    bool costliest;
};

// The commands that set the axes of an n x n pattern and draw it: each entry as a square or, where there are
// many, a raster whose cells are the darker, the more entries they hold.
std::string plot_pattern(std::int64_t n, const std::vector<Entry> &entries,
                         const std::vector<Outline> &outlines);

} // namespace perm
