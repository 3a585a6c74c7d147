// Compiled kernels and orders that searches have found, on disk, each in a file that says what it is. Readers
// take no lock; a file that is not what it should be is replaced, and never makes a call fail.
#pragma once

#include "jit/compile/cache_settings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace libperm {

// $PERM_CACHE_DIR, else $XDG_CACHE_HOME/libperm, else ~/.cache/libperm; empty if none of them can be known,
// or PERM_CACHE_DIR is set and empty.
std::string default_cache_folder();

// The payload that was stored under just this key, if there is one and its file can be trusted.
std::optional<std::string> cache_load(const CacheSettings &settings, std::string_view key);

// Keeps it for all processes, if the folder can be written.
void cache_store(const CacheSettings &settings, std::string_view key, std::string_view payload) noexcept;

struct CacheEntry {
    std::string file; // in the folder
    std::string key;
    std::int64_t bytes = 0;     // of the file
    std::int64_t used_unix = 0; // when it was last loaded or stored, in seconds
};
std::vector<CacheEntry> cache_list(const std::string &folder); // the last used first
int cache_clear(const std::string &folder); // how many files went; other people's files stay

} // namespace libperm
