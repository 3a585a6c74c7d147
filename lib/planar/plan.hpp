// Whether a block's bipartite graph can be drawn in the plane, and its permanent as one determinant then.
#pragma once

#include "lib/planar/fronts.hpp"
#include "lib/run/candidate.hpp"

#include <optional>
#include <vector>

namespace libperm {

class Proposals;

class PlanarPlan final : public EnginePlan {
  public:
    Fronts fronts;
    std::vector<char> is_negative; // by entry, with the signs of a determinant
    bool is_odd = false;           // the permanent is that determinant negated
    bool by_residues = true;       // else by balls

    double matrix_products() const override { return fronts.products(); }
    std::int64_t bytes() const override {
        return fronts.bytes() + static_cast<std::int64_t>(is_negative.size());
    }
};

// The lines in pairs by a perfect matching: fronts and sign.
void pair_lines(PlanarPlan &plan, const Pattern &a, const Matching &matching);

// None: it is not planar. Of a block that has a perfect matching and does not fall apart.
std::optional<PlanarPlan> plan_planar(const Pattern &a, const Poll &poll = no_poll);

void propose_planar(Proposals &task, Engine self);
bool planar_by_residues(const Candidate &c);

// As bytes, and back. Throws DamagedField for what is no plan of the block's.
std::string saved_planar(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_planar(std::string_view bytes, const PlanSource &of);
void check_planar(const Candidate &c);

} // namespace libperm
