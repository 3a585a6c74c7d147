// Files that a crash leaves as they were, or as they were to be.
#pragma once

#include <string>
#include <string_view>

namespace libperm {

// Under another name first, on the disk before it is renamed. Where one lies there already it stays, as
// `file`.previous; a torn one goes, and the one before it stays. Others may read and write it meanwhile:
// there always is a whole one. A link is replaced, not followed. Throws std::system_error, for a folder and a
// device too. What killed processes left of writing it goes.
void write_durably(const std::string &file, std::string_view bytes, bool is_torn = false);

std::string previous_of(const std::string &file); // its name

// "this one", or both where there is one before it: which files are to go before it can be begun anew.
std::string those_kept(const std::string &file);

// All of a plain file. Throws std::system_error.
std::string read_file(const std::string &file);
bool exists(const std::string &file);

} // namespace libperm
