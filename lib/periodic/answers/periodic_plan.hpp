// A periodic matrix and its operator: what is asked of them, for any length.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/periodic/period/period_levels.hpp"
#include "lib/periodic/table/table_program.hpp"
#include "lib/run/call.hpp"
#include "lib/run/results.hpp"

#include <gmpxx.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace libperm {

class DeviceQueue;

// Of nonnegative cells: lower <= rho <= upper for certain, by the bounds of Collatz and Wielandt: for T >= 0
// and x > 0, min (T x)_i / x_i <= rho(T) <= max (T x)_i / x_i (Horn and Johnson, Matrix Analysis,
// Theorem 8.1.26).
struct Growth {
    double value = 0, lower = 0, upper = 0;

    void take(const Growth &other) { // of several parts of one operator the largest counts
        lower = std::max(lower, other.lower);
        upper = std::max(upper, other.upper);
        value = 0.5 * (lower + upper);
    }
};

// Found once, by the first call that asks.
template <class T> class KnownOnce {
  public:
    template <class Find> const T &get(const Find &find) {
        const std::lock_guard lock(mutex_);
        if (!found_) found_ = find();
        return *found_;
    }

  private:
    std::mutex mutex_;
    std::optional<T> found_;
};

struct PeriodicPlan {
    Options options;
    PeriodicMatrix matrix; // as it is computed: A, or A^T
    PeriodProgram program;
    std::vector<Gaussian> values;       // values_of_moves(matrix)
    OpenOperator open;                  // of open ends
    std::vector<PeriodBlock> loops;     // of joined ones
    std::optional<TableProgram> tables; // instead of both, where the operator is not written out
    // The plan has a table, but its operator fits the limit: it takes long to be written.
    bool may_be_written = false;
    double written_bytes = 0; // what that takes, predicted
    // For those who ask for more than a table answers.
    std::shared_ptr<KnownOnce<std::shared_ptr<const PeriodicPlan>>> written =
        std::make_shared<KnownOnce<std::shared_ptr<const PeriodicPlan>>>();
    bool nonnegative = false, real = false, integers = false;
    std::shared_ptr<KnownOnce<Growth>> growth_of_sizes =
        std::make_shared<KnownOnce<Growth>>(); // of absolute values

    bool has_ones_alone() const;
    bool joined() const { return matrix.joined; }
    std::span<const PeriodBlock> blocks() const { // of the operator that is written out
        return joined() ? std::span<const PeriodBlock>(loops) : std::span(&open.period, 1);
    }
    std::size_t states() const;
    double moves() const; // of one period
    // The moves of one period, for each start of joined ends that so many terms take.
    double moves_of_starts(std::int64_t first, std::int64_t count) const;
    std::int64_t order(std::int64_t length) const; // of the whole matrix
    std::int64_t nnz(std::int64_t length) const;
    // From a(first_term()) on the terms obey a recurrence of this order (Cayley and Hamilton).
    std::int64_t recurrence_order() const { return static_cast<std::int64_t>(states()); }
    std::int64_t first_term() const { return matrix.joined ? 1 : open.least; }
};

// Throws Error (PERM_REFUSED_MEMORY), and what the call does.
// Written out, or where that takes too much and `may_be_tables`, not.
enum class MayBeTables : bool { no, yes };
PeriodicPlan make_periodic_plan(PeriodicMatrix a, const Options &options,
                                MayBeTables tables = MayBeTables::no);
PeriodicPlan make_periodic_plan(PeriodicMatrix a, PeriodProgram program,
                                const Options &options); // plan_period(a)

// The same, of tables, written out. Throws Error (PERM_REFUSED_MEMORY), and what the call does.
const PeriodicPlan &written_out(const PeriodicPlan &plan);

std::int64_t held_bytes(const PeriodicPlan &plan); // by its operator

// Throws Error (PERM_BAD_ARGUMENT).
void require_length(const PeriodicPlan &plan, std::int64_t length);

// Permanents in doubles, or twice as many, each with an exponent of its own and a bound.
//
// a(first), a(first + 1), ...; `dd`: in twice a double. Bounds as the frontier's (docs/accuracy.md). One
// alone is found by squaring the operator where that takes less.
std::vector<Outcome> float_terms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, bool dd);

// e with |a(m)| < 2^e, for certain and hardly more; of numbers that grow beyond 2^(2^62) throws Error
// (PERM_UNSUPPORTED).
std::vector<std::int64_t> term_bits(const PeriodicPlan &plan, std::int64_t first, std::int64_t count);

// Bits of a(m), roughly: what exact numbers cost.
double estimated_bits(const PeriodicPlan &plan, std::int64_t m);

// The same, soon said and too many: of open ends without head and tail |a(m)| < 2^this. Of a row with the
// entries x_1 >= x_2 >= ... its factor is the sum over k of (x_k - x_{k+1}) (k!)^(1/k) (Soules, Linear
// Multilinear Algebra 51 (2003)).
double most_term_bits(const PeriodicPlan &plan, std::int64_t m);

// The least length for which the operator is squared, for one term; 0: none.
std::int64_t squared_from(const PeriodicPlan &plan, bool dd);

// Seconds on one thread, roughly.
double float_seconds(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, bool dd);

// How fast the permanents grow with the length: the operator's spectral radius, per cell. 0 where no long
// matrix has a permanent other than 0. Throws Error (PERM_UNSUPPORTED) where an entry is negative or not
// real.
Growth growth_of(const PeriodicPlan &plan);

// With other entries, none negative, in place of the plan's; and whether these are of a size that doubles can
// take.
Growth growth_of(const PeriodicPlan &plan, const std::vector<Gaussian> &values);
bool is_bracketed(const PeriodicPlan &plan, const std::vector<Gaussian> &values);

// Of an operator that is not written out, by its table; `factors`: of the entries, none negative. Works on
// this device, or on the processor if it is null. Throws Error, JitError.
Growth table_growth(const PeriodicPlan &plan, const std::vector<double> &factors, DeviceQueue *queue);

// The permanents of all lengths as one quotient of polynomials: sum_m a(m) x^m = numerator / denominator.
// Of lowest power first; denominator[0] = 1. Of open ends the sum begins with m = 0, of joined ones with m
// = 1.
struct GeneratingFunction {
    std::vector<mpq_class> numerator, denominator;
    std::int64_t order = 0;              // of the recurrence: no shorter one has these terms
    static constexpr bool proven = true; // that the recurrence holds for all terms (docs/periodic.md)
    std::int64_t states = 0;             // it cannot be longer than this
    std::int64_t checked = 0;            // terms that it was checked on beyond those it was made from
};

// Throws Error (PERM_UNSUPPORTED) for entries that are not real, PERM_REFUSED_TIME or _MEMORY beyond the
// limits.
GeneratingFunction generating_function(const PeriodicPlan &plan);

// A long matrix of equal cells, as a plan computes it: by the operator of one cell, whatever the length.
class PlainAsPeriodic {
  public:
    // Null where the matrix is not of equal cells, the options want another engine, or what they want this
    // one does not do. `others` tells, if it is asked, the seconds of the plan that would be made otherwise,
    // infinity where that is refused: null, too, where these are less.
    static std::shared_ptr<const PlainAsPeriodic> of(const InputPattern &input, const Values &values,
                                                     const Options &options,
                                                     const std::function<double()> &others);

    // None where the values are not of equal cells. Throws Error.
    std::optional<Outcome> execute(const InputPattern &input, const Values &values) const;

    const PeriodicPlan &cells() const { return cells_; }
    std::int64_t length() const { return length_; }
    double seconds() const { return seconds_; } // predicted
    double bytes() const;
    std::string text() const; // what it is, in a line

  private:
    PeriodicPlan cells_;
    std::int64_t length_ = 0;
    double seconds_ = 0;
};

} // namespace libperm
