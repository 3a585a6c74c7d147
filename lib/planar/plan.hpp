// Whether a block's bipartite graph can be drawn in the plane, or nearly so, and its permanent as
// determinants then; whether a graph can, and its hafnian as a Pfaffian.
#pragma once

#include "lib/base/json.hpp"
#include "lib/planar/fronts.hpp"
#include "lib/planar/signed_sum.hpp"
#include "lib/run/candidates.hpp"

#include <optional>
#include <string>
#include <vector>

namespace libperm {

constexpr double bytes_of_residue = 8;

class Proposals;

class PlanarPlan final : public EnginePlan {
  public:
    Fronts fronts;
    SignedSum sum;
    bool by_residues = true; // else by balls

    double determinants() const { return static_cast<double>(sum.terms.size()); }
    double matrix_products() const override { return determinants() * fronts.products(); }
    std::int64_t bytes() const override { return fronts.bytes() + sum.bytes(); }
};

// Of one determinant: the lines in pairs by a perfect matching, fronts and sign.
void pair_lines(PlanarPlan &plan, const Pattern &a, const Matching &matching);

// None: it is not planar, is a graph with loops, or has no perfect matching.
std::optional<PlanarPlan> plan_planar(const Pattern &a);
// In the plane but for at most so many entries, or on a surface of a few handles, where most faces are short.
// None: no such drawing was found.
std::optional<PlanarPlan> plan_beyond_plane(const Pattern &a, std::size_t most_crossings);
// Without these entries, ascending, it is planar. None: it is not, or too many sets of them are to be summed.
std::optional<PlanarPlan> plan_with_crossings(const Pattern &a, const std::vector<std::int32_t> &crossings);

void propose_planar(Proposals &task, Engine self);
void propose_crossings(Proposals &task, Engine self); // more of them, where all others take long
bool planar_by_residues(const Candidate &c);

// As bytes, and back. Throws DamagedField for what is no plan of the block's.
std::string saved_planar(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_planar(std::string_view bytes, const PlanSource &of);
void check_planar(const Candidate &c);

// What it is drawn on, as a line and as fields.
std::string drawing_text(const Candidate &c);
void put_drawing(Json &json, const Candidate &c);

} // namespace libperm
