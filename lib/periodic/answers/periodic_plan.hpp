// A periodic matrix and its operator: what is asked of them, for any length.
#pragma once

#include "lib/input/options.hpp"
#include "lib/periodic/period/period_levels.hpp"
#include "lib/periodic/table/table_program.hpp"
#include "lib/run/call.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace libperm {

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

} // namespace libperm
