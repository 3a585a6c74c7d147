// Runs gnuplot, which draws.
#pragma once

#include <string>

namespace perm {

// What gnuplot writes to its standard output for the script. Throws Error.
std::string gnuplot(const std::string &script);

// A text as gnuplot takes it, within its quotes: valid UTF-8 on one line.
std::string quoted(const std::string &text);

} // namespace perm
