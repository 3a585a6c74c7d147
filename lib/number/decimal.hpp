// Numbers as they are written: exactly.
#pragma once

#include "preprocess/gaussian.hpp"

#include <optional>
#include <string_view>

namespace libperm {

// "-12", "0.125", "6.02e23", "1/3", and of a complex number the two parts with a blank between them. Nothing
// if the text is anything else, or its exponent beyond +-100000.
std::optional<Gaussian> parse_number(std::string_view text);

} // namespace libperm
