// Coefficients by sums that no plan is of: over signs, over subsets of lines, and of nested rows at once.
#pragma once

#include "lib/input/input_pattern.hpp"
#include "lib/polynomial/substitution.hpp"
#include "lib/run/call.hpp"
#include "preprocess/pattern.hpp"

#include <cstdint>
#include <gmpxx.h>
#include <optional>
#include <string>
#include <vector>

namespace libperm {

// Sums that no plan is of: the task is of the matrix and the options alone.
class PlainSums : public Substitution, private Task {
  public:
    const Plan &plan_made() const final { return plan_; }
    const Task &task() const final { return *this; }
    bool is_planned() const final { return false; }
    double seconds() const final { return serial_seconds_ / plan_.options.threads; }

  protected:
    // `way`: in words.
    PlainSums(const LinearEntries &entries, const Options &options, std::string way, double serial_seconds,
              std::uint64_t pieces);

  private:
    TaskIdentity identity() const override { return {TaskIdentity::polynomial, {}}; } // its owner's
    ShardCount shards() const override;
    KeptAbout about() const override;

    Plan plan_; // with these alone
    const std::string way_;
    const double serial_seconds_;
    const std::uint64_t pieces_;
};

// Of a Ferrers board: nested rows, each with one number for all of its entries.
//
// The sum over all matchings, where each row has the same weight of staying unmatched, and each column;
// none where it is no such board.
std::optional<mpq_class> ferrers_sum(const InputPattern &given, const Values &values,
                                     const LineCounts &row_count, const LineCounts &column_count);

} // namespace libperm
