// Derivatives of matrices whose graph lies in the plane, by the inverse of a matrix at its entries; and
// what of the caller's matrix they are of.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/plan/plan.hpp"
#include "lib/planar/planar.hpp"
#include "lib/tape/tape_run.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace libperm {

class PlanarGradient {
  public:
    static bool may_serve(const Plan &plan); // by numbers, lines and options, before a drawing is looked for

    // None: the matrix is not planar without the entries that are in no perfect matching of its pattern, has
    // no perfect matching or too few lines to be worth a look, or the options want another engine. Throws
    // Error.
    static std::unique_ptr<const PlanarGradient> of(const Plan &plan);

    double seconds() const; // for a matrix

    // As Gradient::run, but: none, and nothing is written, where the permanent may be 0.
    std::optional<TapeAnswer> run(const Plan &plan, const void *values, double *gradient,
                                  double *error_bounds, Outcome &outcome) const;
    // As Gradient::marginals; none in the same way, but for a permanent that has no term.
    std::optional<TapeAnswer> marginals(const Plan &plan, const void *values, double *marginals,
                                        double *error_bounds, Outcome &outcome) const;

  private:
    class Run;
    void require_time(const Options &options) const;

    Pattern pattern_;                   // of the entries that are in a perfect matching of the plan's pattern
    std::vector<std::int64_t> entries_; // these, in the plan's pattern
    // And among the caller's values, where they are of these: so sorted, with copies of one side by side.
    struct Place {
        std::int64_t place;
        std::size_t entry;
        std::int32_t row;
    };
    std::vector<Place> places_;
    PlanarPlan planar_;
};

} // namespace libperm
