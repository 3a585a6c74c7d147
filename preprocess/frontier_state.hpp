// The frontier after some rows: which columns are open (met already, still to be met), how they hang
// together, and how many states there can be at most.
//
// After a set of rows, the processed part of the matrix falls into connected components. A component with r
// rows, c closed columns (all used) and a open columns has exactly u = r - c of these used, so at most C(a,
// u) states; the whole frontier has at most their product.
#pragma once

#include "preprocess/pattern.hpp"

namespace libperm {

// log2 of n!, and from it of binomial coefficients.
class Log2Binomial {
  public:
    explicit Log2Binomial(std::int32_t n);
    double operator()(std::int32_t a, std::int32_t u) const {
        if (u < 0 || u > a) return -1e300; // no such subset
        const auto f = [this](std::int32_t k) { return log2_factorial_[static_cast<std::size_t>(k)]; };
        return f(a) - f(u) - f(a - u);
    }

  private:
    std::vector<double> log2_factorial_;
};

struct OpenColumn {
    std::int32_t col;
    std::int32_t remaining; // rows still to come that hold it
    std::int32_t component; // the id: any column of it, ever
    std::int32_t active;    // of its component: open columns ...
    std::int32_t used;      // ... and how many of them each state uses
};

// What one row does to the frontier.
struct FrontierStepCost {
    double log2_states_before = 0, log2_states_after = 0;
    double expansions = 0; // pairs (state, entry of the row) that lead somewhere, at most
    std::int32_t opened = 0, closed = 0;
};

class FrontierState {
  public:
    FrontierState(const Pattern &a, const std::vector<std::int32_t> &col_degree,
                  const Log2Binomial &log2_binomial);

    FrontierStepCost advance(std::int32_t row);

    const std::vector<OpenColumn> &open() const { return open_; }
    double log2_states() const { return log2_states_; }

    // Going back to a frontier seen before costs no more than its width.
    struct Snapshot {
        std::vector<OpenColumn> open;
        double log2_states = 0;
    };
    void save(Snapshot &s) const;
    void restore(const Snapshot &s);

    bool is_open(std::int32_t col) const { return slot_[static_cast<std::size_t>(col)] >= 0; }
    std::int32_t remaining(std::int32_t col) const;

  private:
    const Pattern &a_;
    const std::vector<std::int32_t> &col_degree_;
    const Log2Binomial &log2_binomial_;
    std::vector<OpenColumn> open_;
    std::vector<std::int32_t> slot_;  // of a column in open_, -1 when it is not open
    std::vector<std::int64_t> stamp_; // of a component: the step that last merged it
    std::int64_t tick_ = 0;
    double log2_states_ = 0;
};

} // namespace libperm
