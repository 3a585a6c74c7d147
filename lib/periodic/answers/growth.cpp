#include "lib/periodic/answers/growth.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/infinity.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/periodic/answers/table_growth.hpp"
#include "lib/periodic/period/period_walk.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace libperm {
namespace {

using Doubles = PlainNumbers<number::Real<double>>;

constexpr double enough = 1e-14; // of the bracket's width; rounding leaves about as much

// One strongly connected operator, or one whose states all lie on ways from end to end. Power iteration on
// T + s: with s > 0 it converges where the loops of T have lengths with a common divisor too. x > 0 stays so.
class Bracket {
  public:
    Bracket(const PeriodBlock &block, const std::vector<double> &factors, RunControl &control)
        : block_(&block), walk_(numbers_, factors), control_(&control), x_(block.states, 1) {}

    Growth find() {
        // Every rounding on the way of a term, and that of the quotient.
        const double rounding = gamma_bound(roundings_along(block_->levels, 1, 1) + 2);
        Growth best{0, 0, infinity};
        double shift = 0;
        int idle = 0;
        constexpr int most_steps = 20000, patience = 200;
        for (int step = 0; step < most_steps && idle < patience; ++step) {
            control_->advance(moves_of(block_->levels));
            walk_.set(x_);
            walk_.advance(block_->levels);
            const std::vector<double> &y = walk_.numbers();
            double lower = infinity, upper = 0, largest = 0;
            for (std::size_t s = 0; s < x_.size(); ++s) {
                lower = std::min(lower, y[s] / x_[s]);
                upper = std::max(upper, y[s] / x_[s]);
            }
            const double before = best.upper - best.lower;
            best.lower = std::max(best.lower, lower * (1 - rounding));
            best.upper = std::min(best.upper, upper * (1 + rounding) + std::numeric_limits<double>::min());
            if (best.upper - best.lower <= enough * best.upper) break;
            idle = best.upper - best.lower < 0.999 * before ? 0 : idle + 1;
            shift = 0.25 * (best.lower + best.upper);
            for (std::size_t s = 0; s < x_.size(); ++s) largest = std::max(largest, y[s] + shift * x_[s]);
            // Never 0, nor so small that a product of it would be.
            for (std::size_t s = 0; s < x_.size(); ++s)
                x_[s] = std::max((y[s] + shift * x_[s]) / largest, 1e-180);
        }
        best.value = 0.5 * (best.lower + best.upper);
        return best;
    }

  private:
    const PeriodBlock *block_;
    Doubles numbers_;
    PeriodWalk<Doubles> walk_;
    RunControl *control_;
    std::vector<double> x_;
};

// No product along the rows of a period may leave the range of doubles, nor one with a number of x: else
// none.
std::optional<std::vector<double>> doubles_of(const PeriodicPlan &plan, const std::vector<Gaussian> &values) {
    constexpr double most = 1e90;
    std::vector<double> factors;
    for (const Gaussian &value : values) factors.push_back(parts_of(value, 0, Arithmetic::real)[0]);
    const ProductRange cell = range_of_cell(plan.matrix, factors);
    if (!(cell.least > 1 / most && cell.most < most)) return {};
    return factors;
}

} // namespace

bool is_bracketed(const PeriodicPlan &plan, const std::vector<Gaussian> &values) {
    return doubles_of(plan, values).has_value();
}

Growth growth_of(const PeriodicPlan &plan, RunControl &control) {
    const Charge of_plan(&control.memory(), held_bytes(plan));
    if (!plan.nonnegative)
        throw Error(PERM_UNSUPPORTED,
                    "the growth is bracketed for nonnegative entries alone: a cell or an end has "
                    "others");
    return growth_of(plan, plan.values, control);
}

Growth growth_of(const PeriodicPlan &plan, const std::vector<Gaussian> &values, RunControl &control) {
    const auto factors = doubles_of(plan, values);
    if (!factors)
        throw Error(PERM_UNSUPPORTED,
                    "the growth is bracketed where products of a cell's rows stay between 1e-90 and "
                    "1e90: scale its rows, which scales the growth likewise");
    if (plan.tables) {
        try {
            return table_growth(plan, *factors, control);
        } catch (const Error &error) { // what a table cannot tell for certain
            if (error.status() != PERM_UNSUPPORTED) throw;
            const auto refuse = [&error](const std::string &advice) {
                throw Error(error.status(),
                            formatted("{}: {}, for the operator to be written out", error.what(), advice));
            };
            if (plan.options.device == Device::gpu) refuse("leave the device to auto");
            if (!plan.may_be_written)
                refuse("raise memory_limit_bytes to some " + readable_bytes(plan.written_bytes));
        }
        return growth_of(written_out(plan, control), values, control);
    }
    Growth growth;
    const auto take = [&](const PeriodBlock &block) {
        if (block.states > 0) growth.take(Bracket(block, *factors, control).find());
    };
    if (!plan.joined())
        for (const PeriodBlock &block : loops_of(plan.open.period.levels, [&control] { control.poll(); }))
            take(block);
    for (const PeriodBlock &block : plan.loops) take(block);
    return growth;
}

} // namespace libperm
