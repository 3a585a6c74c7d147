// A block of low rank on both sides of a staircase or a band: its walk, and what that takes.
#pragma once

#include "lib/run/candidate.hpp"
#include "lib/structure/structure.hpp"

namespace libperm {

class Proposals;

class SeparablePlan final : public EnginePlan {
  public:
    explicit SeparablePlan(const Separable &found);

    Separable shape;
    double products = 0, table_bytes = 0; // of a matrix

    double matrix_products() const override { return products; }
    std::int64_t bytes() const override { return 16 * std::ssize(shape.order.rows); }
};

void propose_separable(Proposals &task, Engine self);

std::string saved_separable(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_separable(std::string_view bytes, const PlanSource &of);
void check_separable(const Candidate &c);

} // namespace libperm
