#include "jit/text/text.hpp"

#include <fmt/format.h>

namespace libperm {

std::string formatted_of(fmt::string_view format, fmt::format_args arguments) {
    return fmt::vformat(format, arguments);
}

} // namespace libperm
