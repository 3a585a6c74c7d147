// Where compiled kernels are kept, and how many of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace libperm {

struct CacheSettings {
    std::string folder;                         // empty: nothing is kept on disk
    std::int64_t limit_bytes = 256 << 20;       // beyond it the least recently used files go
    std::function<void(std::string_view)> warn; // may be empty; called once a process and folder at most
};

} // namespace libperm
