// How a block is summed along the Gray code: which of A and A^T, in which order, by which kernel.
#pragma once

#include "jit/kernel/subsets.hpp"
#include "lib/run/candidates.hpp"
#include "preprocess/permanent_ordering.hpp"

namespace libperm {

struct Options;

class SubsetPlan final : public EnginePlan {
  public:
    bool transposed = false;
    Ordering order; // of the rows and columns of what is summed, A or A^T; the kernel's are in this order
    SubsetKernel kernel;
    double subsets = 0;           // 2^(n-1); infinity is possible
    double flops_per_subset = 0;  // double-precision instructions
    double bytes_per_subset = 0;  // that each thread moves to and from shared memory
    double global_per_subset = 0; // numbers to and from global memory
    // Segments are summed again in numbers of twice the precision, those that matter most
    // (lib/subsets/refined_segments), so that the bound becomes this; 0: none.
    double tolerance = 1e-9;
    double most_refined = 1.0 / 64; // share of the segments; 1: if it is quicker, all at once (engine tree)
};

// `at`: the transpose of `a`.
SubsetPlan plan_subsets(SubsetEngine engine, const Pattern &a, const Pattern &at, bool equal_chunks);

// The plan of a tree that takes two subsets at once (lib/subsets/ones) as one that takes them one at a time.
SubsetPlan without_derivative(SubsetPlan plan);

// The plan, made for `real`, for another arithmetic or another way to add up a block's terms; the order and
// shape are what is cheapest for `real`.
SubsetPlan with_arithmetic(SubsetPlan plan, Arithmetic arithmetic, Summation summation = Summation::plain);

// The plan as the options want it, in the numbers of a plan.
SubsetPlan in_numbers(SubsetPlan plan, const Numbers &numbers, const Options &options);

// By which the tree of a plan in doubles, or in two grids of them, sums segments again: its leaves may be
// shorter.
SubsetPlan refined_plan(const SubsetPlan &plan);

// As many double-precision instructions as one of `real` becomes, about.
double arithmetic_cost(Arithmetic arithmetic);

// Why no kernel of this kind can hold the block, or empty.
std::string subsets_why_not(const SubsetPlan &plan);

// The sum over all subsets is cut into windows of so many segments; those that matter most in one are summed
// again. A piece is a run of windows that knows nothing of the others. Both follow from the kernel alone.
std::uint64_t window_segments(const SubsetKernel &kernel);
std::uint64_t window_count(const SubsetKernel &kernel);
std::uint64_t piece_count(const SubsetKernel &kernel); // at most 2^16; 1 of equal chunks

// So many segments' sums stand in a GPU's memory at once.
constexpr std::uint64_t most_segments = std::uint64_t{1} << 22;

} // namespace libperm
