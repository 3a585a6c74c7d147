// Terms far out: the operator as a full matrix, squared again and again.
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

// a(first), a(first + 1), ...: the first by squares, those behind it cell by cell; first >= the plan's least.
// The numbers are their own factors.
template <class Numbers>
std::vector<typename Numbers::Number> terms_by_squares(const PeriodicPlan &plan, const Numbers &numbers,
                                                       const std::vector<typename Numbers::Factor> &factors,
                                                       std::int64_t first, std::int64_t count,
                                                       RunControl &control) {
    using Number = typename Numbers::Number;
    const auto periods = static_cast<std::uint64_t>(first - plan.open.least);
    std::vector<Number> terms;
    if (!plan.joined()) {
        PeriodWalk<Numbers> walk(numbers, factors), end(numbers, factors);
        walk.begin(1, 0);
        walk.advance(plan.open.start);
        std::vector<Number> x = walk.numbers();
        {
            OperatorPower<Numbers> power(plan.open.period, numbers, factors, control);
            for (std::uint64_t left = periods; left != 0; left >>= 1) {
                if (left & 1) x = power.applied_to(x);
                if (left > 1) power.square();
            }
        }
        walk.set(std::move(x));
        while (std::ssize(terms) < count) {
            if (!terms.empty()) walk.advance(plan.open.period.levels);
            control.advance(moves_of(plan.open.period.levels));
            end.set(walk.numbers());
            end.advance(plan.open.finish);
            terms.push_back(end.numbers().empty() ? Numbers::zero() : end.numbers().front());
        }
        return terms;
    }
    terms.assign(static_cast<std::size_t>(count), Numbers::zero());
    for (const PeriodBlock &block : plan.loops) {
        OperatorPower<Numbers> power(block, numbers, factors, control);
        typename OperatorPower<Numbers>::Rows product;
        for (std::uint64_t left = periods; left != 0; left >>= 1) {
            if (left & 1) product = product.empty() ? power.rows() : power.times(product);
            if (left > 1) power.square();
        }
        for (std::size_t k = 0; k < terms.size(); ++k) {
            if (k > 0)
                parallel_for(block.states, [&](std::uint64_t s) {
                    PeriodWalk<Numbers> walk(numbers, factors);
                    walk.set(std::move(product[s]));
                    walk.advance(block.levels);
                    control.advance(moves_of(block.levels));
                    product[s] = walk.numbers();
                });
            for (std::size_t s = 0; s < block.states; ++s) terms[k] = numbers.add(terms[k], product[s][s]);
        }
    }
    return terms;
}

} // namespace libperm
