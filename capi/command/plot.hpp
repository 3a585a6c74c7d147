// The picture of a plan: its patterns, its frontier and its engines.
#pragma once

#include <string>

namespace perm {

// By the name's ending: .svg, .png or .pdf. Throws Error for any other.
std::string plot_terminal(const std::string &file);

// For gnuplot. `picture`: of PERM_FORMAT_PICTURE.
std::string plot_script(const std::string &picture, const std::string &title, const std::string &terminal);

// What gnuplot writes to its standard output for the script. Throws Error.
std::string gnuplot(const std::string &script);

// A text as gnuplot takes it, within its quotes: valid UTF-8 on one line.
std::string quoted(const std::string &text);

} // namespace perm
