// How engine `bjorklund` computes a hafnian, and what that is expected to take: all follows from the number
// of lines and whether there are loops.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "lib/run/candidates.hpp"
#include "preprocess/pattern.hpp"

#include <cstdint>
#include <string>

namespace libperm {

class Proposals;

class BjorklundPlan final : public EnginePlan {
  public:
    explicit BjorklundPlan(const Pattern &graph);

    std::int32_t pairs = 0; // of lines, with one more where their number is odd and there are loops
    bool has_loops = false;
    bool has_matching = true; // an odd number of lines without loops has none

    bool by_definition() const; // set by set of its lines
    double terms() const;       // of the sum, or sets
    double operations() const;  // multiply-adds
};

constexpr std::int32_t most_bjorklund_lines = 64;

// Signs that tell the pieces of a sum from each other: a piece takes a millisecond or so, of which its first
// levels take little. Of the lines alone, so the result does not know of threads.
int piece_bits_of(int pairs);

Cost bjorklund_cost(const BjorklundPlan &plan, int threads);
Cost bjorklund_cost(const BjorklundPlan &plan, const GpuProperties &gpu); // not by definition
// `bits`: of the hafnian, if it is to be exact.
Slowdown bjorklund_slowdown(bool on_gpu, const Numbers &numbers, double bits);

void propose_bjorklund(Proposals &task, Engine self);

// As bytes, and back. Throws DamagedField for what is no plan of the block's.
std::string saved_bjorklund(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_bjorklund(std::string_view bytes, const PlanSource &of);
void check_bjorklund(const Candidate &c);

KernelSource bjorklund_source(const Candidate &c, const Numbers &numbers, bool nonnegative);

} // namespace libperm
