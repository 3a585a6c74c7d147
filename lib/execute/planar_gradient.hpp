// Derivatives of matrices whose graph lies in the plane, by the inverse of a matrix at its entries; and
// what of the caller's matrix they are of.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/plan/plan.hpp"
#include "lib/planar/fields.hpp"
#include "lib/planar/planar.hpp"
#include "lib/tape/tape_run.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/numbers.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace libperm {

class PlanarGradient {
  public:
    static bool may_serve(const Plan &plan); // by numbers, lines and options, before a drawing is looked for

    // None: the matrix is not planar without the entries that are in no perfect matching of its pattern, has
    // no perfect matching or too few lines to be worth a look, or the options want another engine. Throws
    // Error.
    static std::optional<PlanarGradient> of(const Plan &plan);

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

// A plan's, looked for when it is first asked for.
class LazyPlanarGradient {
  public:
    const PlanarGradient *of(const Plan &plan) const; // null: none. Throws Error
    const PlanarGradient *if_known() const { return is_known_ && made_ ? &*made_ : nullptr; }

  private:
    mutable std::mutex mutex_;
    mutable std::atomic<bool> is_known_{false};
    mutable std::optional<PlanarGradient> made_;
};

// A planar matrix's values as its inverse takes them, exactly.

class PlanarValues {
  public:
    // Of some of the read entries, real ones all. All outlive it.
    PlanarValues(const Pattern &pattern, const std::vector<std::int64_t> &entries, const Values &read);

    BallField::Number number(std::size_t k, const BallField &field) const;
    mpq_class exactly(std::size_t k) const;
    Tracked magnitude(std::size_t k) const; // 0: the entry is

    bool are_nonnegative() const { return are_nonnegative_; }
    // None is 0, and all are of sizes that any pairs do for.
    bool are_alike() const { return are_alike_; }

    // As many pairs as there can be of entries that are not 0; where that is all lines, large entries where
    // others are small.
    Matching matching() const;

    // Row i's entries are multiples of 2^units()[i]; none: not of any.
    const std::vector<std::int64_t> &units() const { return units_; }

  private:
    bool find_units();

    const Pattern &pattern_;
    const std::vector<std::int64_t> &entries_;
    const Values &read_;
    bool are_nonnegative_, are_alike_;
    std::vector<std::int64_t> units_;
};

} // namespace libperm
