// Words that are shown, as they are written and read again (lib/base/fields.hpp).
#pragma once

#include "lib/base/fields.hpp"
#include "lib/base/utf8.hpp"

#include <string>

namespace libperm {

// UTF-8 in either direction: what comes of a path or a driver may be anything.
template <class Archive> void text_field(Archive &ar, std::string &x) {
    std::string text;
    if constexpr (!Archive::is_loading::value) text = in_utf8(x);
    ar(text);
    require_read<Archive>(in_utf8(text) == text, "a text");
    if constexpr (Archive::is_loading::value) x = std::move(text);
}
template <class Archive, class... Text> void text_fields(Archive &ar, Text &...x) {
    (text_field(ar, x), ...);
}

} // namespace libperm
