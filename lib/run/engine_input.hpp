// What an engine computes the permanent of, and in which numbers.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "lib/number/residues.hpp"
#include "preprocess/block.hpp"

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

} // namespace libperm
