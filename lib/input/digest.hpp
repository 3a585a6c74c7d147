// What values are told from others by.
#pragma once

#include "lib/input/matrix.hpp"

#include <string>

namespace libperm {

// 32 hexadecimal digits.
std::string digest_of(const Values &values);

} // namespace libperm
