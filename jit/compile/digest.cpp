#include "jit/compile/digest.hpp"

#define XXH_INLINE_ALL
#define XXH_NO_INLINE_HINTS 1 // GCC's -Og cannot follow them
#include <xxhash.h>

namespace libperm {

std::string digest_of_bytes(std::string_view bytes) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
    return hexadecimal(canonical.digest, sizeof canonical.digest);
}

std::string hexadecimal(const unsigned char *bytes, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        text += hexadecimal_digits[bytes[i] >> 4];
        text += hexadecimal_digits[bytes[i] & 15];
    }
    return text;
}

} // namespace libperm
