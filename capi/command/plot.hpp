// The picture of a plan: its patterns, its frontier and its engines.
#pragma once

#include <string>

namespace perm {

// By the name's ending: .svg, .png or .pdf. Throws Error for any other.
std::string plot_terminal(const std::string &file);

// For gnuplot. `picture`: of PERM_FORMAT_PICTURE.
std::string plot_script(const std::string &picture, const std::string &title, const std::string &terminal);

} // namespace perm
