// The rows of `tree`: straight-line code printed from the programs of its leaves.
#pragma once

#include "jit/kernel/subsets.hpp"

#include <string>

namespace libperm {

// struct Values and struct Rows.
std::string tree_text(const SubsetKernel &kernel);

// Instructions and entries that the compiler meets in that, about.
std::int64_t tree_text_size(const SubsetKernel &kernel);

// Values as the kernel's first parameter takes them: the row sums, the entries of columns that have a code of
// their own, the constants that it reads, and the other columns in full. From all of them.
std::vector<double> tree_parameters(const SubsetKernel &kernel, const std::vector<double> &values);
std::int64_t tree_parameter_count(const SubsetKernel &kernel);

// The shape as a line of the kernel's key: "0 8 39", with parts in brackets behind it.
std::string shape_text(const TreePart &part);

} // namespace libperm
