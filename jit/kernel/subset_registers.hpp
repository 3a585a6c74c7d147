// The rows of `purereg` and `hybrid`: code for each column, x in registers named x0, x1, ...
#pragma once

#include "jit/kernel/subsets.hpp"

#include <string>

namespace libperm {

// Before each method of `struct Rows`.
constexpr const char *device_method = "    __device__ __forceinline__ ";

// What the arithmetic itself holds: the last of `struct Values`, and where Rows takes it from.
const char *arithmetic_member(Arithmetic a);
const char *arithmetic_argument(Arithmetic a);

// struct Values and struct Rows.
std::string registers_text(const SubsetKernel &kernel);

} // namespace libperm
