// A block of low rank, exactly or, at rank one, up to rounding.
#pragma once

#include "lib/run/candidate.hpp"
#include "lib/structure/entries_read.hpp"
#include "lib/structure/structure.hpp"

#include <memory>

namespace libperm {

class Proposals;

class LowRankPlan final : public EnginePlan {
  public:
    LowRank lines; // none: rank one up to rounding
    std::int32_t n = 0;
    double products = 0; // of a matrix
    EntriesRead read;

    bool is_fit(const Residues &residues,
                std::size_t matrix) const override; // not for a multiple of the minor
    bool is_exact() const { return !lines.rows.empty(); }
    double matrix_products() const override { return products; }
    std::int64_t bytes() const override { return 8 * std::ssize(read.all()); }
    std::span<const std::int64_t> entries_read() const override { return read.all(); }
};

void propose_low_rank(Proposals &task, Engine self);
bool low_rank_by_residues(const Candidate &c);

std::string saved_low_rank(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_low_rank(std::string_view bytes, const PlanSource &of);
void check_low_rank(const Candidate &c);

} // namespace libperm
