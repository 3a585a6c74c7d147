// Text put together by fmt, which text.cpp alone compiles: fmt is large, and libperm.so is not to need
// libfmt.so when it is loaded.
#pragma once

#include <fmt/core.h>

#include <string>

namespace libperm {

std::string formatted_of(fmt::string_view format, fmt::format_args arguments);

// Formats as fmt::format does; the compiler checks it as well.
template <class... T> std::string formatted(fmt::format_string<T...> format, T &&...arguments) {
    return formatted_of(format, fmt::make_format_args(arguments...));
}

} // namespace libperm
