// One file of the cache: its name, and what it holds, a kernel or an order that was searched for. "PERMCUBN",
// the format's version and the key's length (32 bits each), the payload's length and the checksum of all the
// rest (64 bits each), the key, the payload; little-endian.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace libperm {

constexpr std::int64_t least_cache_file_bytes = 32;        // the header
constexpr std::int64_t most_cache_file_bytes = 256L << 20; // more is not a kernel

constexpr std::string_view order_key = "order"; // what keys of orders that were searched for begin with
// Its digest and ".cubin", or of an order ".order".
std::string cache_file_name(std::string_view key);
bool is_order_file(std::string_view name);

// For the writing of this file; no other process or thread has the same, on no machine that shares the
// folder.
std::string cache_temporary_name(std::string_view file);

enum class CacheName { kept, temporary, other };
CacheName read_cache_name(std::string_view name);

std::string encode_cache_file(std::string_view key, std::string_view payload);

struct CacheContent { // lies in what was decoded
    std::string_view key, payload;
};
std::optional<CacheContent> decode_cache_file(std::string_view file); // nothing if a bit of it is wrong

} // namespace libperm
