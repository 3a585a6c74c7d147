// The source of a kernel that walks the Gray code, and how its values are passed to it.
#pragma once

#include "jit/compile/kernels.hpp"
#include "jit/kernel/subsets.hpp"

namespace libperm {

// What the kernel's first parameter is: a pointer to the values on the GPU, or a struct of so many of them
// (of `tree` if it is not too large).
bool values_by_parameter(const SubsetKernel &kernel);

// That the values among them may take, of 32764 with CUDA 12.1 and later.
constexpr std::int64_t most_parameter_bytes = 32764 - static_cast<std::int64_t>(sizeof(SubsetLaunch) + 16);

// What the first parameter holds, or points to.
std::vector<double> parameters_of(const SubsetKernel &kernel, const std::vector<double> &values);
std::int64_t parameter_count(const SubsetKernel &kernel);
std::int64_t parameter_bytes(const SubsetKernel &kernel);

// Everything that changes the compiled kernel, as text; and the kernel. Parameters: values, Launch,
// Number *x (global_rows numbers for each thread), Partial *.
std::string key_of(const SubsetKernel &kernel);
std::string source_of(const SubsetKernel &kernel);
KernelRecipe subsets_kernel(const SubsetKernel &kernel); // of all entries that it has

} // namespace libperm
