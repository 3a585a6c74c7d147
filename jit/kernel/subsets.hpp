// The kernels that walk the Gray code: what each depends on. All sum the same terms; the first four one by
// one (device/gray_walk.cuh), and differ in where they keep the row sums x and the entries of A:
//
//   shared   x and A in shared memory                    GPU-SparsePerman (x_shr A_shr)
//   dense    x in registers, A in shared memory, for n   SUperman's x_reg A_shr, rebuilt for n
//   purereg  x in registers, code for each column        CodeGen-PureReg
//   hybrid   the first k rows in registers, the others   CodeGen-Hybrid
//            in global memory with their product kept
//   tree     x in registers, terms multiplied out as     jit/program/tree.hpp
//            little as can be (device/tree_walk.cuh)
//
// Elbek and Kaya, "Fully-Automated Code Generation for Efficient Computation of Sparse Matrix Permanents on
// GPUs", §III-V, and Elbek, Tasyaran, Ucar and Kaya, "SUperman: Efficient permanent computation on GPUs", §3.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "jit/number/partial.hpp"
#include "jit/program/tree.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libperm {

enum class SubsetEngine { shared, dense, purereg, hybrid, tree };

const char *subset_engine_name(SubsetEngine engine);

// How the terms of a block are added up, if they are doubles and taken one by one (device/terms.cuh).
enum class Summation : std::uint8_t { plain, kahan, dq };

const char *summation_name(Summation summation);

// Columns in the order of the Gray code's bits, the last is the one that Nijenhuis and Wilf leave out; rows
// as the engine holds them. Empty for `dense`; for `shared` they do not matter, but the number of entries
// does.
struct SubsetKernel {
    SubsetEngine engine = SubsetEngine::purereg;
    std::int32_t n = 0;
    std::vector<std::int64_t>
        column_ptr;                // n + 1: entries of column j are column_ptr[j] .. column_ptr[j+1] - 1
    std::vector<std::int32_t> row; // of each entry
    std::int32_t k = 0;            // hybrid: rows in registers
    std::int32_t c = 0;            // hybrid: columns that touch only these
    std::int32_t segment_bits = 0; // subsets of a segment, by their logarithm; at most n - 1
    std::int32_t unrolled = 0;     // subsets of a block; at most segment_bits
    Tree tree;                     // if that is the engine
    std::int32_t threads = 128;    // of a block at most; of hybrid, and of rows in shared memory, exactly
    bool equal_chunks = false;
    Arithmetic arithmetic = Arithmetic::real;
    bool again = false; // of engine tree: it sums segments again that another kernel has summed
    Summation summation = Summation::plain; // not of `tree`
};

// Its columns, those of `dense` written out.
struct KernelColumns {
    std::vector<std::int64_t> column_ptr;
    std::vector<std::int32_t> row;
};
KernelColumns columns_of(const SubsetKernel &kernel);

constexpr const char *gray_entry = "perm_gray", *gather_entry = "perm_gather", *select_entry = "perm_select",
                     *rest_entry = "perm_rest", *accurate_entry = "perm_accurate",
                     *refined_entry = "perm_again";

// Of the walk: perm_again of one that sums segments again, so that both walks of a block can be loaded.
const char *walk_entry(const SubsetKernel &kernel);

// Whether some segments can be summed again, in products of twice the precision: then it has perm_select. By
// `tree` that is done by a kernel of Arithmetic::pair, or of split beside two_grids, by the others' own
// perm_accurate.
bool refines(const SubsetKernel &kernel);

// Segments summed again tell this part of the sums of their absolute values.
constexpr int accurate_gain = 1 << 20;
// Threads that share a segment in perm_accurate.
int accurate_threads(const SubsetKernel &kernel);

// The values: first x at the empty set, then the entries (dense: all n * n of them, column by column), then
// the tree's constants; numbers of the arithmetic, the parts of each side by side. Behind them stands what
// the arithmetic itself holds: of residues p and 1 / p.
std::int64_t value_count(const SubsetKernel &kernel);
std::int64_t entry_count(const SubsetKernel &kernel);
constexpr int doubles_of_its_own(Arithmetic a) { return a == Arithmetic::modular ? 2 : 0; }

// Whether `tree` keeps x in shared memory (device/shared_rows.cuh); else in registers.
bool rows_in_shared(const SubsetKernel &kernel);

// A block's threads, where they hold rows: fewer if these take much.
int threads_of_rows(const SubsetKernel &kernel);

// Bytes of shared memory of a block of so many threads.
std::size_t shared_bytes(const SubsetKernel &kernel, int threads);
// Numbers of x in global memory for each thread.
std::int64_t global_rows(const SubsetKernel &kernel);

// The struct of device/gray_walk.cuh.
using Partial3 = PartialOf<number::Real<double>>;
struct SubsetLaunch {
    std::uint64_t first, end, length, base, chosen = 0;
};

// The rows of `purereg` and `hybrid`: code for each column, x in registers named x0, x1, ...

// Before each method of `struct Rows`.
constexpr const char *device_method = "    __device__ __forceinline__ ";

// What the arithmetic itself holds: the last of `struct Values`, and where Rows takes it from.
const char *arithmetic_member(Arithmetic a);
const char *arithmetic_argument(Arithmetic a);

// struct Values and struct Rows.
std::string registers_text(const SubsetKernel &kernel);

} // namespace libperm
