#include "lib/periodic/answers/periodic_plan.hpp"

#include "jit/queue/device_queue.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/base/system.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/periodic/answers/residue_terms.hpp"
#include "lib/periodic/cell/periodic_matrix.hpp"
#include "lib/periodic/period/period_walk.hpp"
#include "lib/periodic/table/table_walk.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
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
    Bracket(const PeriodBlock &block, const std::vector<double> &factors)
        : block_(&block), sums_(numbers_, factors), walk_(sums_), x_(block.states, 1) {}

    Growth find() {
        // Every rounding on the way of a term, and that of the quotient.
        const double rounding = gamma_bound(roundings_along(block_->levels, 1, 1) + 2);
        Growth best{0, 0, infinity};
        double shift = 0;
        int idle = 0;
        constexpr int most_steps = 20000, patience = 200;
        for (int step = 0; step < most_steps && idle < patience; ++step) {
            call().advance(moves_of(block_->levels));
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
    MoveSums<Doubles> sums_;
    PeriodWalk<MoveSums<Doubles>> walk_;
    std::vector<double> x_;
};

// A product along the rows of a cell: the least there can be, and the sum of all; 1 is among both.
struct ProductRange {
    double least = 1, most = 1;
};
ProductRange range_of_cell(const PeriodicMatrix &a, const std::vector<double> &factors) {
    std::vector<ProductRange> rows(static_cast<std::size_t>(a.rows), {1, 0});
    for (std::size_t k = 0; k < a.entries.size(); ++k) {
        ProductRange &row = rows[static_cast<std::size_t>(a.entries[k].row)];
        row.least = std::min(row.least, factors[k]);
        row.most += factors[k];
    }
    ProductRange cell;
    for (const ProductRange &row : rows) {
        cell.least *= row.least;
        cell.most *= std::max(row.most, 1.0);
    }
    return cell;
}

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

constexpr double smallest = 1e-120; // of x: what a period makes of it does not vanish

// A vector x and its copy, which periods are applied to: here, or on a device.
//
//     begin(state): 1 in one state, or in all
//     advance(u)
//     bracket(shift, scale): of the two; then both are (y + shift x) scale
class GrowthOnCpu {
  public:
    GrowthOnCpu(const TableProgram &program, std::int32_t used, const std::vector<double> &factors,
                const std::vector<bool> &ones)
        : factors_(factors),
          table_(program, used, numbers_, factors_, ones),
          charge_(&call().memory(), static_cast<std::int64_t>(8 * table_.numbers().size())),
          x_(table_.numbers().size()) {}

    void begin(const std::uint64_t *state) {
        table_.begin(state ? 0 : 1);
        if (state) table_.set(*state, 1);
        x_ = table_.numbers();
    }
    void advance(std::int32_t u) { table_.advance(u); }
    TableBracket bracket(double shift, double scale) {
        std::vector<double> &y = table_.numbers();
        const NumberedPieces pieces = NumberedPieces::of_length(x_.size(), 1 << 16);
        std::vector<TableBracket> found(pieces.count());
        parallel_for(found.size(), [&](std::uint64_t p) {
            double least = infinity, most = 0;
            for (std::size_t s = pieces[p].first; s < pieces[p].last; ++s) {
                if (x_[s] > 0) {
                    const double ratio = y[s] / x_[s];
                    least = std::min(least, ratio);
                    most = std::max(most, ratio);
                } else {
                    ++(y[s] > 0 ? found[p].fresh : found[p].zeros);
                }
                const bool stays = y[s] > 0 || (x_[s] > 0 && shift != 0);
                x_[s] = y[s] = stays ? std::max((y[s] + shift * x_[s]) * scale, smallest) : 0;
            }
            found[p].least = std::bit_cast<std::uint64_t>(least);
            found[p].most = std::bit_cast<std::uint64_t>(most);
        });
        TableBracket all = found.front();
        for (std::size_t p = 1; p < found.size(); ++p) {
            all.least = std::min(all.least, found[p].least);
            all.most = std::max(all.most, found[p].most);
            all.fresh += found[p].fresh;
            all.zeros += found[p].zeros;
        }
        return all;
    }

  private:
    Doubles numbers_;
    std::vector<double> factors_;
    TableOnCpu<Doubles> table_;
    Charge charge_;
    std::vector<double> x_;
};

class GrowthOnDevice {
  public:
    GrowthOnDevice(DeviceQueue &queue, const TableProgram &program, std::int32_t used,
                   const std::vector<double> &factors, const std::vector<bool> &ones)
        : queue_(queue), table_(queue, program, used, StateNumbers(true)), x_(queue), found_(queue) {
        std::vector<double> coefficients;
        for (const double a : factors) coefficients.insert(coefficients.end(), {a, a});
        table_.take(coefficients, ones);
        x_.reserve(8 * table_.layout().size());
        found_.reserve(sizeof(TableBracket));
    }

    void begin(const std::uint64_t *state) {
        for (const DeviceAddress table : {table_.table(), x_.address()}) {
            table_.begin(table, state ? 0 : 1);
            if (state) table_.set(table, *state, 1);
        }
    }
    void advance(std::int32_t u) { table_.advance(u); }
    TableBracket bracket(double shift, double scale) {
        TableBracket found{std::bit_cast<std::uint64_t>(infinity), 0, 0, 0};
        queue_.copy_in(found_.address(), &found, sizeof found);
        DeviceAddress x = x_.address(), y = table_.table(), to = found_.address();
        std::uint64_t count = table_.layout().size();
        double least = smallest;
        const std::array<void *, 7> arguments{&x, &y, &count, &shift, &scale, &least, &to};
        const TableOnDevice::Shape shape = table_.whole_shape(table_bracket_entry);
        queue_.launch(table_bracket_entry, shape.blocks, shape.threads, arguments);
        queue_.copy_out(&found, found_.address(), sizeof found);
        return found;
    }

  private:
    DeviceQueue &queue_;
    TableOnDevice table_;
    DeviceArray x_, found_;
};

// What is added to T^k, in units of its largest eigenvalue, so that the others become smaller beside it:
// where they are not negative, half the second is best taken away; where one is its opposite, something is to
// be added. Each is tried for some steps.
class Shift {
  public:
    double value() const { return value_; }

    // The bracket's width has become `width`, as a share of its upper end; `lower` beside the largest
    // eigenvalue.
    void take(double width, double lower) {
        if (++steps_ < of_trial) return;
        const double rate = std::pow(width / width_before_, 1.0 / of_trial);
        const bool counts = width_before_ < 0.5; // else it was not yet a rate
        steps_ = 0;
        width_before_ = width;
        if (!counts) return;
        if (tried_ > 0 && rate > best_rate_) value_ = best_value_;
        if (tried_ == 0 || rate < best_rate_) {
            best_rate_ = rate;
            best_value_ = value_;
        }
        if (tried_++ > 0) return;
        if (rate > 0.9)
            value_ = 0.25;
        else if (lower > 0.5 * rate) // then no number becomes negative
            value_ = -0.45 * rate;
        else
            tried_ = 0;
    }

  private:
    static constexpr int of_trial = 3;
    double value_ = 0, best_value_ = 0, best_rate_ = 1, width_before_ = 1;
    int steps_ = 0, tried_ = 0;
};

// Finds the growth of the states with so many used slots; below `least` nobody asks.
template <class Table> class Iteration {
  public:
    Iteration(Table &table, const TableProgram &program, double rounding, double most, double least)
        : table_(table), periods_(program.periods), rounding_(rounding), most_(most), least_(least) {}

    // From one state: those that it leads to. From all: those that are on loops, and others. `zeros`: how
    // many are not among them.
    Growth find(const std::uint64_t *state, std::uint64_t &zeros) {
        table_.begin(state);
        const double enough = std::max(1e-14, 6 * rounding_); // roundings leave about as much
        Growth best{0, 0, infinity};
        double about = 0; // of the periods' product
        Shift shift;
        std::uint64_t zeros_before = ~std::uint64_t{0};
        bool settled = false; // no state comes to those that there are, and none goes
        int idle = 0;
        for (int step = 0; step < most_steps && idle < patience; ++step) {
            for (std::int32_t u = 0; u < periods_; ++u) table_.advance(u);
            // First those come that one leads to, or those go that nothing leads to.
            const double added = about * (settled ? shift.value() : state ? 0x1p-10 : 0);
            const TableBracket found = table_.bracket(added, 1 / (about > 0 ? about + added : most_));
            const auto lower = std::bit_cast<double>(found.least), upper = std::bit_cast<double>(found.most);
            zeros = found.zeros;
            if (!(upper > 0) && found.fresh == 0) return {0, 0, 0}; // nothing leads anywhere
            settled = found.fresh == 0 && found.zeros == zeros_before && (state || lower > 0);
            zeros_before = found.zeros;
            if (upper > 0 && upper < infinity)
                about = lower > 0 && lower < upper ? 0.5 * (lower + upper) : upper;
            if (!settled) continue;
            const double before = best.upper - best.lower;
            best.lower = std::max(best.lower, lower * (1 - rounding_));
            best.upper = std::min(best.upper, upper * (1 + rounding_));
            const double width = best.upper - best.lower;
            log_detail(formatted("growth of a table: {} steps of {} periods, bracket of {:.2g}, {:.2g} added",
                                 step + 1, periods_, width / best.upper, added / about));
            if (width <= enough * best.upper || root_of(best.upper) < least_) break;
            idle = width < 0.99 * before ? 0 : idle + 1;
            shift.take(width / best.upper, best.lower / best.upper);
        }
        best.lower = root_of(best.lower) * (1 - of_root);
        best.upper = root_of(best.upper) * (1 + of_root);
        best.value = 0.5 * (best.lower + best.upper);
        return best;
    }

  private:
    static constexpr double of_root = 1e-15;
    static constexpr int most_steps = 5000, patience = 24;

    double root_of(double x) const { return periods_ == 1 ? x : std::pow(x, 1.0 / periods_); }

    Table &table_;
    std::int32_t periods_;
    double rounding_, most_, least_;
};

double roundings_of(const TableProgram &program) {
    double roundings = 2;
    for (const TableStep &step : program.steps)
        if (!step.clears) roundings += static_cast<double>(step.terms.size()) + 2;
    return roundings;
}

} // namespace

Growth table_growth(const PeriodicPlan &plan, const std::vector<double> &factors, DeviceQueue *queue) {
    const TableProgram &program = *plan.tables;
    const ProductRange cell = range_of_cell(plan.matrix, factors);
    const double least = std::pow(cell.least, program.periods), most = std::pow(cell.most, program.periods);
    if (!(least > 1e-150 && most < 1e150))
        throw Error(PERM_UNSUPPORTED,
                    "the growth of an operator that is not written out is bracketed where products "
                    "along the rows stay between 1e-150 and 1e150 until its slots come round");
    std::vector<bool> ones;
    for (const double a : factors) ones.push_back(a == 1);
    const double rounding = gamma_bound(roundings_of(program));
    Growth growth;
    const auto find = [&](std::int32_t used, const std::uint64_t *state) {
        std::uint64_t zeros = 0;
        const auto iterate = [&](auto &&table) {
            growth.take(Iteration(table, program, rounding, most, growth.lower).find(state, zeros));
        };
        if (queue)
            iterate(GrowthOnDevice(*queue, program, used, factors, ones));
        else
            iterate(GrowthOnCpu(program, used, factors, ones));
        return zeros;
    };
    if (!plan.joined()) {
        const std::vector<CellSymmetry> symmetries = symmetries_of(plan.matrix);
        const bool turns = std::any_of(symmetries.begin(), symmetries.end(),
                                       [](const CellSymmetry &s) { return s.reversed; });
        // What leads from the start to each leads, turned around, from each to the end.
        if (!turns)
            throw Error(
                PERM_UNSUPPORTED,
                "the growth of an operator that is not written out is bracketed where its cells look the "
                "same from the other end, or its ends are joined");
        if (find(program.used, &program.ends.front()) > 0)
            throw Error(PERM_UNSUPPORTED,
                        "some states are not reached from the start, and the operator is too large to "
                        "be written out");
        return growth;
    }
    // The sizes in the middle have the most states, and grow most.
    std::vector<std::int32_t> sizes;
    for (std::int32_t used = 0; used <= program.slots; ++used) sizes.push_back(used);
    std::stable_sort(sizes.begin(), sizes.end(), [&](std::int32_t x, std::int32_t y) {
        return std::abs(2 * x - program.slots) < std::abs(2 * y - program.slots);
    });
    for (const std::int32_t used : sizes) find(used, nullptr);
    return growth;
}

namespace {

// The same, where it is predicted to take less.
Growth table_growth(const PeriodicPlan &plan, const std::vector<double> &factors) {
    constexpr double steps = 60, of_move = 1.5e-9, on_gpu = 2e-11; // seconds
    const double moves = steps * plan.moves() * plan.tables->periods;
    const Work work = placed_table(
        plan, moves * of_move, moves * on_gpu,
        table_device_bytes(*plan.tables, plan.tables->most_used(plan.joined()), StateNumbers(true), 2),
        false);
    Growth growth;
    run_placed(work, plan.options, [&](const DeviceQueues *queues) {
        growth = table_growth(plan, factors, queues ? &(*queues)[0] : nullptr);
    });
    return growth;
}

} // namespace

bool is_bracketed(const PeriodicPlan &plan, const std::vector<Gaussian> &values) {
    return doubles_of(plan, values).has_value();
}

Growth growth_of(const PeriodicPlan &plan) {
    const Charge of_plan(&call().memory(), held_bytes(plan));
    if (!plan.nonnegative)
        throw Error(PERM_UNSUPPORTED,
                    "the growth is bracketed for nonnegative entries alone: a cell or an end has "
                    "others");
    return growth_of(plan, plan.values);
}

Growth growth_of(const PeriodicPlan &plan, const std::vector<Gaussian> &values) {
    const auto factors = doubles_of(plan, values);
    if (!factors)
        throw Error(PERM_UNSUPPORTED,
                    "the growth is bracketed where products of a cell's rows stay between 1e-90 and "
                    "1e90: scale its rows, which scales the growth likewise");
    if (plan.tables) {
        try {
            return table_growth(plan, *factors);
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
        return growth_of(written_out(plan), values);
    }
    Growth growth;
    const auto take = [&](const PeriodBlock &block) {
        if (block.states > 0) growth.take(Bracket(block, *factors).find());
    };
    if (!plan.joined())
        for (const PeriodBlock &block : loops_of(plan.open.period.levels)) take(block);
    for (const PeriodBlock &block : plan.loops) take(block);
    return growth;
}

} // namespace libperm
