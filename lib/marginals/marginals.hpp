// Marginals are each entry's probability to be in the matching, and each line's to stay unmatched, where a
// matching's probability is its share of the sum over all.
#pragma once

#include "lib/execute/plan_gradient.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/results.hpp"
#include "lib/sets/set_gradient.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace libperm {

// Marginals of small matrices, without a plan: the sums of lib/sets/set_gradient.hpp over all sets of the
// shorter side's lines, none of which is closed before all of the longer side's are met.
class SetWalk {
  public:
    // Whether the sets are few: at most 2^12, and some ten thousand numbers in all.
    static bool serves(const InputPattern &given);

    // The matrix is as it was given, without multiplicities.
    explicit SetWalk(const InputPattern &given);

    struct Workspace {
        std::vector<double> values, forward, back, next, products;
        std::vector<int> exponents; // of each long line
    };

    // values: as a plan is given them, each finite and not negative. To `marginals` entries, rows and
    // columns; `bounds` may be null. False: their products could leave the range of double, and nothing is
    // written.
    bool run(const double *values, Workspace &work, double *marginals, double *bounds, SetValue &value) const;

    double sets() const { return static_cast<double>(sets_); }
    double operations() const { return operations_; }
    std::int64_t bytes() const { return bytes_; }

  private:
    bool load(const double *values, Workspace &work) const;
    double number(const double *values, std::int64_t place) const {
        return place >= 0 ? values[place] : place == weight_one ? 1 : 0;
    }
    // The weight of leaving long line l unmatched, scaled as it is.
    double stays_unmatched(std::size_t l, const Workspace &work) const;
    // Returns how many entries are not 0.
    std::int64_t go_forward(std::size_t l, const Workspace &work, const double *from, double *to) const;
    double walk_forward(Workspace &work) const;
    void begin_back(Workspace &work) const;
    double sum_of_products(const double *x, const double *y, Workspace &work) const;
    struct Shares;
    void put_short_lines(Workspace &work, const Shares &shares) const;
    void put_long_line(std::int64_t l, Workspace &work, const Shares &shares) const;

    SetLayers layers_; // all short lines wait
    std::int64_t value_count_, marginal_count_, sets_;
    double operations_;
    std::int64_t bytes_;
};

// A plan, and what it keeps for the road of large matrices: `tape` may be null, what `derivatives` take is
// made when it is first asked for.
struct MarginalsPlan {
    const Plan &plan;
    const TapePlan *tape;
    const PlanGradient &derivatives;
};

// The sum over all matchings.
struct MatchingSum {
    TapeAnswer value;
    Outcome outcome;
    int threads = 1;
};

class Marginals {
  public:
    explicit Marginals(const InputPattern &input);

    struct Work { // kept from one matrix to the next
        SetWalk::Workspace sets;
        std::vector<double> values;
    };

    std::int64_t count() const { return count_; } // of a matrix: entries, rows, columns
    bool by_sets() const { return sets_.has_value(); }
    double operations() const; // of a matrix, by sets

    // Whether a matrix takes so much memory that those of a batch are to be run one by one, each on all
    // threads.
    bool takes_much(const MarginalsPlan &of) const;

    // values as perm_plan_execute takes them. Throws Error.
    MatchingSum run(const MarginalsPlan &of, const void *values, Work &work, MarginalNumbers to) const;

    // Without a plan, on the threads of the arena that it is called in. None: another way may be the quicker.
    // Throws Error.
    std::optional<MatchingSum> run_alone(const InputPattern &input, const Options &options,
                                         const void *values, Work &work, MarginalNumbers to) const;

  private:
    std::optional<MatchingSum> run_by_sets(const InputPattern &given, const void *values, Work &work,
                                           MarginalNumbers to) const;
    MatchingSum run_by_derivatives(const MarginalsPlan &of, const void *values, MarginalNumbers to) const;

    std::int64_t count_;
    std::optional<SetWalk> sets_;
};

// Many matrices of one pattern: matrix k's values begin k * stride values after the first's.
struct MarginalsBatch {
    const void *values;
    std::int64_t stride, count;
};

// Matrix k's numbers begin at k * marginals.count(). Runs on the threads of the arena that it is called in;
// what a matrix gets does not depend on the others. tell(k, sum) is called by any thread. Throws Error,
// naming the matrix.
void marginals_of_batch(const MarginalsPlan &of, const Marginals &marginals, const MarginalsBatch &batch,
                        MarginalNumbers to,
                        const std::function<void(std::int64_t k, const MatchingSum &)> &tell);

} // namespace libperm
