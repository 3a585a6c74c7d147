// Marginals of small matrices, without a plan: forwards and back over all sets of the shorter side's lines.
//
// The walk meets the longer side's lines one by one. After t of them F[t][S] is the sum over all matchings of
// these to the set S of short lines, G[t][S] that over all ways to go on from there, so that value = F[0][{}]
// G[0][{}] and
//
//     P(line l matched to j)  = a[l,j] sum_S F[l-1][S] G[l][S + j] / value,      S without j,
//     P(line l stays unmatched) = u[l] sum_S F[l-1][S] G[l][S] / value.
//
// All terms are nonnegative: nothing cancels, and each number has a relative error of its roundings alone.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/sets/set_gradient.hpp"

#include <vector>

namespace libperm {

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
    std::int64_t bytes() const;

  private:
    struct Step {
        std::int32_t bit;   // of the short line
        std::int64_t place; // of the number among the values
    };
    struct Line {
        std::int64_t begin, end;   // of its steps
        std::int64_t unmatched;    // its weight's place; `absent`: 0, `one`: 1
        std::int64_t of_unmatched; // where that it stays unmatched is told
    };
    static constexpr std::int64_t absent = -1, one = -2;

    bool load(const double *values, Workspace &work) const;
    double number(const double *values, std::int64_t place) const {
        return place >= 0 ? values[place] : place == one ? 1 : 0;
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

    std::int64_t value_count_, marginal_count_, sets_ = 1;
    double operations_ = 0;
    std::vector<Line> lines_; // of the longer side
    std::vector<Step> steps_;
    std::vector<std::int64_t> short_;    // each short line's weight's place
    std::vector<std::int64_t> of_short_; // where that it stays unmatched is told
    std::int64_t nnz_;
};

} // namespace libperm
