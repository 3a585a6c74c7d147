// The rows of `purereg` and `hybrid`: code for each column, x in registers named x0, x1, ...
#pragma once

#include "jit/gray_kernel.hpp"

namespace libperm {

// struct Values and struct Rows.
std::string registers_text(const GrayKernel &kernel);

} // namespace libperm
