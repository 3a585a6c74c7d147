#include "lib/base/utf8.hpp"

#include <rapidjson/encodings.h>
#include <rapidjson/memorystream.h>

namespace libperm {

std::string in_utf8(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    for (std::size_t at = 0; at < bytes.size();) {
        rapidjson::MemoryStream rest(bytes.data() + at, bytes.size() - at);
        unsigned character = 0;
        const bool is_one = rapidjson::UTF8<>::Decode(rest, &character) && rest.Tell() <= bytes.size() - at;
        const std::size_t length = is_one ? rest.Tell() : 1;
        text += is_one ? bytes.substr(at, length) : std::string_view("\uFFFD");
        at += length;
    }
    return text;
}

} // namespace libperm
