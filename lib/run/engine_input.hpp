// What an engine computes, in which numbers, and what it is given to run with.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "lib/number/residues.hpp"
#include "lib/number/scaled.hpp"
#include "lib/run/candidates.hpp"
#include "lib/run/memory_budget.hpp"
#include "lib/run/placement.hpp"
#include "lib/run/results.hpp"
#include "preprocess/block.hpp"

#include <algorithm>
#include <complex>
#include <variant>

namespace libperm {

// A block in doubles, one of rationals in an arithmetic, or one modulo primes; kept by
// reference. An engine that sums over subsets is given A or A^T as its plan has it.
class EngineInput {
  public:
    EngineInput(const Block &block) : values_(&block) {}
    EngineInput(const Residues &residues) : values_(&residues), arithmetic_(Arithmetic::modular) {}
    EngineInput(const ExactBlock &block, Arithmetic arithmetic) : values_(&block), arithmetic_(arithmetic) {}

    const Block *block() const { return get<Block>(); } // null: of another kind
    const ExactBlock *exact() const { return get<ExactBlock>(); }
    const Residues *residues() const { return get<Residues>(); }

    const Pattern &pattern() const {
        return std::visit([](const auto *values) -> const Pattern & { return values->pattern; }, values_);
    }
    std::int32_t n() const { return pattern().rows; }

    Arithmetic arithmetic() const { return arithmetic_; }

  private:
    template <class Values> const Values *get() const {
        const auto *values = std::get_if<const Values *>(&values_);
        return values ? *values : nullptr;
    }

    std::variant<const Block *, const ExactBlock *, const Residues *> values_;
    Arithmetic arithmetic_ = Arithmetic::real;
};

// A graph of doubles, straight from their values, without numbers of any length; and its hafnian.

using DoublesGraph = BlockOf<std::complex<double>>; // finite; no entry is 0
template <> inline std::complex<double> number_one<std::complex<double>>() { return 1; }

inline bool is_real(const DoublesGraph &graph) {
    return std::all_of(graph.values.begin(), graph.values.end(),
                       [](const std::complex<double> &x) { return x.imag() == 0; });
}

struct DoublesHafnian {
    Scaled re, im, error; // of the sum of the parts
};

// What an engine is given to run with, besides its input.

struct Options;

struct EngineRun {
    const Candidate &choice; // with its plan
    const Options &options;
    MemoryBudget &memory;
    GpuQueues &gpus; // opened when they are first asked for
};

} // namespace libperm
