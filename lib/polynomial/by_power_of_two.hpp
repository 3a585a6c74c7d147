// The sum over the matchings of a matrix whose lines may all stay unmatched, by the structure of the matrix
// itself. With r and c the weights of rows and of columns,
//
//     perm(A + t r c^T) = sum_k t^(n-k) (n-k)! M_k,    M_k: over the matchings with k entries,
//
// for the n - k lines of either side that are left are matched in any order. A + t r c^T has A's structure,
// or nearly: a rank one higher at most, the same entries beside a background. At t = 2^b all M_k stand beside
// each other in one number. Lines of the shorter side that are missing are empty, with weight 1.
#pragma once

#include "lib/input/input_pattern.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/results.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace libperm {

class RankOneAdded {
  public:
    // Whether a matrix may have one: all its lines may stay unmatched, each is there once, it is dense, and
    // large enough that structure is looked for.
    static bool may_serve(const InputPattern &given, bool multiplied, const Options &options);
    static bool may_serve(const InputPattern &input, const Options &options) {
        return may_serve(as_given(input), input.multiplied, options);
    }

    // How long that matrix may take beside the plan of the one with lines for those that stay unmatched; 0:
    // that is done sooner than looked for.
    static double seconds_beside(const Plan &plan);
    // Before there is that plan: beside a checkpoint no limit ends a search for one.
    static constexpr double before_a_search = 60, any_seconds = std::numeric_limits<double>::infinity();

    // Whether a saved plan is of that matrix, and of none with lines for those that stay unmatched.
    static bool is_plan_of(const std::string &plan, const InputPattern &given);

    // Where that matrix has a structure, and takes less than so many seconds and fits. `values`: entries and
    // weights, as many as there are: of other lines they are 1. `plan`: a saved one, or null: it is made
    // here.
    static std::optional<RankOneAdded> of(const InputPattern &given, const Values &values,
                                          const Options &options, double seconds,
                                          const std::string *plan = nullptr);

    const Plan &plan() const { return plan_; }
    const Values &values() const { return values_; } // for the plan

    // Of the plan's permanent: M_0, M_1, ...
    std::vector<Gaussian> numbers(const Outcome &permanent) const;
    Gaussian sum(const Outcome &permanent) const; // of these

  private:
    Plan plan_;
    Values values_;
    unsigned long bits_ = 0;
    mpz_class denominator_ = 1; // of all M_k
};

} // namespace libperm
