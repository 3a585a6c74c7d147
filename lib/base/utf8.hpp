// Text that others read.
#pragma once

#include <string>
#include <string_view>

namespace libperm {

// Each byte that is of no character gives way to the character for what cannot be shown.
std::string in_utf8(std::string_view bytes);

} // namespace libperm
