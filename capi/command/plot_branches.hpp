// The lists of states of a frontier on a tree, as gnuplot draws them.
#pragma once

#include "lib/base/json.hpp"

#include <string>

namespace perm {

// What is written above the tree: "820 leaves, 301 joins, middle sets of up to 24 lines".
std::string branches_in_words(const libperm::Json &branches);

// The commands that draw it, the result on top: a line for each list, the thicker and darker, the larger its
// largest middle set; `key`: where its colours are explained, on the screen.
std::string plot_branches(const libperm::Json &branches, double key_x, double key_y);

} // namespace perm
