// What a plan of the frontier holds: the program that is run.
#pragma once

#include "lib/run/candidate.hpp"
#include "preprocess/frontier_program.hpp"

#include <utility>

namespace libperm {

class FrontierPlan final : public EnginePlan {
  public:
    explicit FrontierPlan(FrontierProgram of_rows) : program(std::move(of_rows)) {}
    std::int64_t bytes() const override { return bytes_of(program); }

    FrontierProgram program; // of A, or of A^T
};

} // namespace libperm
