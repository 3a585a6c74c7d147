// Bytes behind a seal (lib/base/archive.hpp), changed so that its checksum is right again.
#pragma once

#include "bench/families.hpp"
#include "jit/compile/digest.hpp"

#include <perm.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

namespace sealed_bytes {

constexpr std::size_t version_at = 8 + 1 + 4 + 8,
                      header_bytes = version_at + sizeof PERM_VERSION_STRING - 1 + 8 + 8 + 32;

inline std::string with_digest(std::string bytes) {
    return bytes.replace(header_bytes - 32, 32,
                         libperm::digest_of_bytes(std::string_view(bytes).substr(header_bytes)));
}

// With one to three bytes or words that stand for lengths, counts and doubles nobody wrote, each where
// place() says, 8 bytes before the end at the latest.
template <class Place>
std::string forged(std::string bytes, const Place &place, perm::families::Random &random) {
    constexpr std::int64_t words[] = {-1,
                                      0,
                                      1,
                                      std::int64_t{1} << 31,
                                      std::int64_t{1} << 62,
                                      0x7ff8000000000000,
                                      0x7ff0000000000000,
                                      0x7fefffffffffffff};
    for (std::int64_t k = random.integer(1, 3); k > 0; --k) {
        const auto at = static_cast<std::size_t>(place());
        if (random.chance(0.5))
            bytes[at] = static_cast<char>(random.integer(0, 255));
        else
            std::memcpy(bytes.data() + at, &words[random.integer(0, 7)], random.chance(0.5) ? 4 : 8);
    }
    return with_digest(std::move(bytes));
}

} // namespace sealed_bytes
