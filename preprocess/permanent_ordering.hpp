// Permanent ordering and partitioning: the order of rows and columns, and which row sums are in registers.
#pragma once

#include "preprocess/pattern.hpp"

#include <functional>

namespace libperm {

// Row r of the ordered matrix is row rows[r] of A, and column c is column cols[c] of A.
struct Ordering {
    std::vector<std::int32_t> rows, cols;
};

// Next comes the column with the fewest entries in rows not placed yet, of equal ones the first; its new rows
// follow in ascending order. Empty rows come last. `at` is the transpose of `a`. O(nnz + cols^2).
Ordering permanent_ordering(const Pattern &a, const Pattern &at);

// P A Q with, for each of its entries, the entry of A it came from.
struct Reordered {
    Pattern pattern;
    std::vector<std::int64_t> source;
};

Reordered reorder(const Pattern &a, const Ordering &order);

// Which row sums x[i] a thread holds in registers and which in slow memory. Elbek and Kaya, "Fully-Automated
// Code Generation for Efficient Computation of Sparse Matrix Permanents on GPUs", Algorithm 4.

// Registers of a thread that do not hold x. Not given in the paper: in its Table III kernels with all of x in
// registers run 512 threads on each of the 108 multiprocessors of an A100, for n = 40 (80 registers of x) and
// n = 48 (96) alike. In the model below that means 17 to 32; this is about the middle.
constexpr int registers_beside_x = 24;

// Threads resident on one multiprocessor when x takes `registers` 32-bit registers of each: 65536 registers
// in four equal parts, given to warps of 32 threads in units of 8 for each thread, and at most 2048 threads
// (NVIDIA's occupancy calculator, compute capability 8.0 and 9.0; limits by blocks left out). 0 beyond the
// 255 registers a thread can have.
double resident_threads(int registers);

struct PartitionOptions {
    double global_to_register = 16; // GRratio: cost of updating slow memory over that of a register; >= 0
    std::function<double(int registers)> threads = resident_threads; // CalculateNoThreads
};

struct Partition {
    std::int32_t k = 0;        // the first k rows are held in registers ...
    std::int32_t c = 0;        // ... and the first c columns touch no other
    std::vector<double> score; // of each column, were it the last of the c
};

// `at`: the transpose of the ordered matrix. k = c = 0 when no thread can hold even the rows of the first
// column. An empty first column is always taken: the permanent is 0 then, and the answer means little.
Partition partition(const Pattern &at, const PartitionOptions &options = {});

} // namespace libperm
