#include "jit/compile/cache_file.hpp"

#include "jit/compile/digest.hpp"

#define XXH_INLINE_ALL
#define XXH_NO_INLINE_HINTS 1 // GCC's -Og cannot follow them
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <random>

namespace libperm {
namespace {

constexpr std::string_view magic = "PERMCUBN", temporary_suffix = ".tmp";
constexpr std::string_view suffixes[] = {".cubin", ".order"};
constexpr std::size_t hash_digits = 32;

struct Header {
    std::array<char, 8> magic;
    std::uint32_t version, key_bytes;
    std::uint64_t payload_bytes, checksum;
};
static_assert(sizeof(Header) == least_cache_file_bytes && std::endian::native == std::endian::little);

Header header_of(std::string_view key, std::string_view payload) {
    Header header{{}, 1, static_cast<std::uint32_t>(key.size()), payload.size(), 0};
    std::copy(magic.begin(), magic.end(), header.magic.begin());
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, &header, offsetof(Header, checksum));
    for (const std::string_view part : {key, payload}) XXH3_64bits_update(&state, part.data(), part.size());
    header.checksum = XXH3_64bits_digest(&state);
    return header;
}

} // namespace

std::string cache_file_name(std::string_view key) {
    return digest_of_bytes(key) + std::string(suffixes[key.starts_with(order_key) ? 1 : 0]);
}

bool is_order_file(std::string_view name) { return name.ends_with(suffixes[1]); }

std::string cache_temporary_name(std::string_view file) {
    std::random_device random;
    std::array<unsigned char, 16> bytes{};
    for (unsigned char &byte : bytes) byte = static_cast<unsigned char>(random());
    return std::string(file) + '.' + hexadecimal(bytes.data(), bytes.size()) + std::string(temporary_suffix);
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
    const Header header = header_of(key, payload);
    std::string file(sizeof header, '\0');
    std::memcpy(file.data(), &header, sizeof header);
    file.reserve(file.size() + key.size() + payload.size());
    file += key;
    file += payload;
    return file;
}

std::optional<CacheContent> decode_cache_file(std::string_view file) {
    if (file.size() < sizeof(Header)) return {};
    Header header{};
    std::memcpy(&header, file.data(), sizeof header);
    const std::string_view rest = file.substr(sizeof header);
    if (header.key_bytes > rest.size() || header.payload_bytes != rest.size() - header.key_bytes) return {};
    const CacheContent content{rest.substr(0, header.key_bytes), rest.substr(header.key_bytes)};
    const Header right = header_of(content.key, content.payload);
    if (std::memcmp(&header, &right, sizeof header) != 0) return {};
    return content;
}

} // namespace libperm
