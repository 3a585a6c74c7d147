// Which kernels the rows of a dense frontier are run with on a GPU: a few for all rows, as compiling one
// takes longer than most runs.
#pragma once

#include "jit/kernel/frontier_dense.hpp"
#include "preprocess/frontier_program.hpp"

#include <cstddef>
#include <vector>

namespace libperm {

// States: rows of fewer take as long as their launch, and share a kernel.
constexpr double large_row = 1 << 22;

// By row.
std::vector<CubeKernel> cube_kernels(const FrontierProgram &program, const StateNumbers &numbers,
                                     double large = large_row);

// How many there are, without finding out which.
std::size_t count_cube_kernels(const FrontierProgram &program, const StateNumbers &numbers);

} // namespace libperm
