// Sparsity patterns, and the lists of states of a frontier on a tree, as gnuplot draws them.
#pragma once

#include "lib/base/json.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace perm {

// What is written above a tree of lists of states: "820 leaves, 301 joins, middle sets of up to 24 lines".
std::string branches_in_words(const libperm::Json &branches);

// The commands that draw it, the result on top: a line for each list, the thicker and darker, the larger its
// largest middle set; `key`: where its colours are explained, on the screen.
std::string plot_branches(const libperm::Json &branches, double key_x, double key_y);

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
