// Matrices, plans that are not the planner's, and devices of any shape for the engines whose kernels walk the
// Gray code; and how they are run.
#pragma once

#include "bench/families.hpp"
#include "lib/run/call.hpp"
#include "lib/run/results.hpp"
#include "lib/subsets/subset_sum.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/oracle.hpp"

#include <string>
#include <vector>

namespace subset_cases {

using libperm::Block;
using libperm::Outcome;
using libperm::SubsetEngine;
using libperm::SubsetKernel;
using libperm::SubsetPlan;
using oracle::Exact;
using perm::families::Random;

constexpr SubsetEngine engines[] = {SubsetEngine::shared, SubsetEngine::dense, SubsetEngine::purereg,
                                    SubsetEngine::hybrid};

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

bool same_bits(const Outcome &x, const Outcome &y);
// A finite value within its bounds of the truth.
void check(const Outcome &outcome, const Exact &truth);

perm::Csr matrix_with(std::int64_t n, perm::families::Entries entries, Random &random); // a perfect matching

libperm::Ordering any_order(std::int32_t n, Random &random);
// In any order, not just those that the planner chooses.
SubsetPlan plan_in_order(SubsetEngine engine, const libperm::Pattern &a, const libperm::Ordering &order);
// The first columns that touch k rows only.
std::int32_t columns_within(const SubsetKernel &kernel, std::int32_t k);
// Any of the kernel's numbers that the engine allows.
void choose_shape(SubsetKernel &kernel, Random &random);
double block_terms(const SubsetKernel &kernel);

struct Case {
    std::string name;
    Exact truth;
    SubsetPlan plan;
    Block block; // A or A^T, as the plan has it
};
Case make_case(const perm::Csr &matrix, const Exact &truth, SubsetPlan plan);
// Either as planned or in any order, in any case with numbers of its own.
Case any_case(SubsetEngine engine, bool equal_chunks, std::int64_t n, Random &random);

// A device, and how long the work is said to take, from which follows how long a launch may be.
struct Played {
    HostDevice device;
    double seconds = 0;
    unsigned threads = 0, blocks = 0; // that the device is given
};
Played any_device(const SubsetPlan &plan, Random &random);

// Compiles and loads them; whether there is a compiler, else a skip is announced.
bool compiled(HostQueue &queue, const std::vector<libperm::KernelRecipe> &kernels);
bool compiled(HostQueue &queue, const std::vector<Case> &cases);

inline Outcome run_on(const libperm::DeviceQueues &devices, const SubsetPlan &plan,
                      const libperm::EngineInput &block, double seconds = 0) {
    return libperm::outcome_of(run_subset_sum(plan, block, {devices, false, seconds}));
}
// As this device.
Outcome run_on(HostQueue &queue, const Case &c, const Played &played);

} // namespace subset_cases
