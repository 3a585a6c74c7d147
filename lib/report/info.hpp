// What this build of the library is, what it runs on, and which compiled kernels it keeps.
#pragma once

#include <cstdint>
#include <string>

namespace libperm {

std::string info_text();
std::string info_json();
std::string machine_here(); // as perm_opts.machine has it

// The folder of compiled kernels, and each kernel that lies in it. NULL: default_cache_folder(). A folder
// that is missing or that cannot be used has none, and the text says so.
std::string cache_text(const char *folder);
std::string cache_json(const char *folder);

// Removes the kernels, and what was left half written; returns how many files. Throws Error (PERM_BAD_OPTION)
// if the folder is there and cannot be read.
std::int64_t clear_cache(const char *folder);

} // namespace libperm
