// Digests of bytes, to tell them apart and to find damage; not against malice.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace libperm {

std::string digest_of_bytes(std::string_view bytes); // XXH3's 128 bits, 32 hexadecimal digits
constexpr std::string_view hexadecimal_digits = "0123456789abcdef";
std::string hexadecimal(const unsigned char *bytes, std::size_t count);

} // namespace libperm
