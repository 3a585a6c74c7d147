// One term far out: the operator as a full matrix, squared again and again.
#pragma once

#include "lib/periodic/terms.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace libperm {

// By rows: row s is what one period makes of the state s.
template <class Numbers> class OperatorPower {
  public:
    using Number = typename Numbers::Number;
    using Factors = std::vector<typename Numbers::Factor>;

    OperatorPower(const PeriodBlock &block, const Numbers &numbers, const Factors &factors,
                  RunControl &control)
        : n_(block.states), numbers_(&numbers), control_(&control), charge_(&control.memory()) {
        charge_.resize(static_cast<std::int64_t>(3 * n_ * n_ * sizeof(Number)));
        rows_.resize(n_);
        const double work = moves_of(block.levels);
        parallel_for(n_, [&](std::uint64_t s) {
            control_->advance(work);
            PeriodWalk<Numbers> walk(numbers, factors);
            walk.begin(n_, s);
            walk.advance(block.levels);
            rows_[s] = walk.numbers();
        });
    }

    void square() { rows_ = times(rows_); }

    // x (this power), a row vector.
    std::vector<Number> applied_to(const std::vector<Number> &x) const {
        std::vector<Number> y(n_, Numbers::zero());
        for (std::size_t s = 0; s < n_; ++s)
            for (std::size_t t = 0; t < n_; ++t)
                y[t] = numbers_->add(y[t], numbers_->multiply(x[s], rows_[s][t]));
        return y;
    }
    using Rows = std::vector<std::vector<Number>>;
    Rows times(const Rows &left) const {
        Rows out(n_);
        parallel_for(n_, [&](std::uint64_t i) {
            control_->poll();
            out[i] = applied_to(left[i]);
        });
        return out;
    }
    const Rows &rows() const { return rows_; }

  private:
    std::size_t n_;
    const Numbers *numbers_;
    RunControl *control_;
    Charge charge_;
    Rows rows_;
};

// a(m); m >= the plan's least. The numbers are their own factors.
template <class Numbers>
typename Numbers::Number term_by_squares(const PeriodicPlan &plan, const Numbers &numbers,
                                         const std::vector<typename Numbers::Factor> &factors, std::int64_t m,
                                         RunControl &control) {
    using Number = typename Numbers::Number;
    const auto periods = static_cast<std::uint64_t>(m - plan.open.least);
    if (!plan.joined()) {
        PeriodWalk<Numbers> walk(numbers, factors);
        walk.begin(1, 0);
        walk.advance(plan.open.start);
        std::vector<Number> x = walk.numbers();
        OperatorPower<Numbers> power(plan.open.period, numbers, factors, control);
        for (std::uint64_t left = periods; left != 0; left >>= 1) {
            if (left & 1) x = power.applied_to(x);
            if (left > 1) power.square();
        }
        walk.set(std::move(x));
        walk.advance(plan.open.finish);
        return walk.numbers().empty() ? Numbers::zero() : walk.numbers().front();
    }
    Number trace = Numbers::zero();
    for (const PeriodBlock &block : plan.loops) {
        OperatorPower<Numbers> power(block, numbers, factors, control);
        typename OperatorPower<Numbers>::Rows product;
        for (std::uint64_t left = periods; left != 0; left >>= 1) {
            if (left & 1) product = product.empty() ? power.rows() : power.times(product);
            if (left > 1) power.square();
        }
        for (std::size_t s = 0; s < block.states; ++s) trace = numbers.add(trace, product[s][s]);
    }
    return trace;
}

} // namespace libperm
