#include "jit/compile/cache_file.hpp"

#include "jit/compile/digest.hpp"

#define XXH_INLINE_ALL
#define XXH_NO_INLINE_HINTS 1 // GCC's -Og cannot follow them
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <unistd.h>

namespace libperm {
namespace {

constexpr std::string_view magic = "PERMCUBN", temporary_suffix = ".tmp";
constexpr std::string_view suffixes[] = {".cubin", ".order"};
constexpr std::uint64_t version = 1;
constexpr std::size_t header_bytes = least_cache_file_bytes, checksum_at = 24, hash_digits = 32;

void put(std::string &to, std::uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>(number >> (8 * i) & 0xff);
}

std::uint64_t get(std::string_view from, std::size_t at, int bytes) {
    std::uint64_t number = 0;
    for (int i = bytes; i-- > 0;)
        number = number << 8 | static_cast<unsigned char>(from[at + static_cast<std::size_t>(i)]);
    return number;
}

std::uint64_t checksum(std::string_view header, std::string_view key, std::string_view payload) {
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (const std::string_view part : {header.substr(0, checksum_at), key, payload})
        XXH3_64bits_update(&state, part.data(), part.size());
    return XXH3_64bits_digest(&state);
}

std::string random_hex() {
    std::random_device random;
    std::array<unsigned char, 8> bytes{};
    for (unsigned char &byte : bytes) byte = static_cast<unsigned char>(random());
    return hexadecimal(bytes.data(), bytes.size());
}

std::string host_name() {
    std::array<char, 65> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
    std::string text = name.data();
    std::replace(text.begin(), text.end(), '/', '_');
    return text;
}

} // namespace

std::string cache_file_name(std::string_view key) {
    return digest_of_bytes(key) + std::string(suffixes[key.starts_with(order_key) ? 1 : 0]);
}

bool is_order_file(std::string_view name) { return name.ends_with(suffixes[1]); }

std::string cache_temporary_name(std::string_view file) {
    static std::atomic<unsigned> counter = 0;
    return std::string(file) + '.' + host_name() + '.' + std::to_string(getpid()) + '.' +
           std::to_string(counter++) + '.' + random_hex() + std::string(temporary_suffix);
}

CacheName read_cache_name(std::string_view name) {
    const std::string_view hash = name.substr(0, hash_digits);
    if (hash.size() < hash_digits || hash.find_first_not_of(hexadecimal_digits) != std::string_view::npos)
        return CacheName::other;
    const std::string_view rest = name.substr(hash_digits);
    for (const std::string_view suffix : suffixes) {
        if (rest == suffix) return CacheName::kept;
        if (rest.starts_with(std::string(suffix) + '.') && rest.ends_with(temporary_suffix))
            return CacheName::temporary;
    }
    return CacheName::other;
}

std::string encode_cache_file(std::string_view key, std::string_view payload) {
    std::string file(magic);
    file.reserve(header_bytes + key.size() + payload.size());
    put(file, version, 4);
    put(file, key.size(), 4);
    put(file, payload.size(), 8);
    put(file, checksum(file, key, payload), 8);
    file += key;
    file += payload;
    return file;
}

std::optional<CacheContent> decode_cache_file(std::string_view file) {
    if (file.size() < header_bytes || !file.starts_with(magic) || get(file, 8, 4) != version) return {};
    const std::string_view rest = file.substr(header_bytes);
    const std::uint64_t key_bytes = get(file, 12, 4), payload_bytes = get(file, 16, 8);
    if (key_bytes > rest.size() || payload_bytes != rest.size() - key_bytes) return {};
    const CacheContent content{rest.substr(0, key_bytes), rest.substr(key_bytes)};
    if (get(file, checksum_at, 8) != checksum(file, content.key, content.payload)) return {};
    return content;
}

} // namespace libperm
