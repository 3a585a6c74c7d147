// A block that is a background but for some entries, B: how the matchings of B are gone through, by how many
// lines of each class they take.
#pragma once

#include "lib/background/class_counts.hpp"
#include "lib/background/order.hpp"
#include "lib/run/candidate.hpp"
#include "lib/structure/entries_read.hpp"
#include "lib/structure/structure.hpp"

#include <vector>

namespace libperm {

class Proposals;

class BackgroundPlan final : public EnginePlan {
  public:
    Background background;
    std::vector<std::int32_t> order; // of the lines of B
    std::vector<CountingStep> steps;
    ClassCounts counts;
    std::int32_t open = 0; // at most
    double products = 0;   // of a matrix
    EntriesRead read;

    bool is_fit(const Residues &residues,
                std::size_t matrix) const override; // for what u and v are quotients of
    double matrix_products() const override { return products; }
    std::int64_t bytes() const override;
    std::span<const std::int64_t> entries_read() const override { return read.all(); }
    double table_bytes() const;
};

void propose_background(Proposals &task, Engine self);

std::string saved_background(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_background(std::string_view bytes, const PlanSource &of);
void check_background(const Candidate &c);

} // namespace libperm
