// Factors of A = U V^T as whole numbers, and how large its permanent can be.
#pragma once

#include "lib/input/factors.hpp"
#include "lib/number/block_grids.hpp"
#include "lib/run/results.hpp"
#include "lib/run/tasks.hpp"

#include <cstdint>
#include <perm.h>
#include <string>

namespace libperm {

struct IntegerFactors {
    IntegerBlock u, v;  // n x rank each, every entry there; times both factors the permanent is that of A
    bool has_zero_line; // of one of them

    std::int32_t n() const { return u.pattern.rows; }
    std::int32_t rank() const { return u.pattern.cols; }
    bool is_gaussian() const { return !u.im.empty() || !v.im.empty(); }
};

// Without the columns that are 0 in one of them or a multiple of another there; rows without a divisor in
// common.
IntegerFactors integer_factors(ExactBlock u, ExactBlock v);

// b with |re|, |im| < 2^b for the parts of the permanent of the whole numbers, for certain.
std::int64_t permanent_bits(const IntegerFactors &factors);

// The permanent of U V^T from its factors, as a task: a piece for each prime.

class ProductTask final : public TaskOf<Outcome> {
  public:
    // The options must outlive it. Throws Error.
    ProductTask(const perm_factors *given, const Options &options);

    std::int64_t n() const { return factors_.n(); }
    std::int64_t entries() const { return entries_; } // of both factors that take part and are not 0

    TaskIdentity identity() const override;
    ShardCount shards() const override;
    KeptAbout about() const override;
    // Exact; of doubles rounded to a double, unless precision or tolerance ask for more.
    Outcome run(PieceStore *store, const Told &told) const override;

  private:
    bool is_known() const { return n() == 0 || factors_.rank() == 0 || factors_.has_zero_line; }
    double residues() const; // of how many primes, those of Gaussian integers twice
    double products() const; // for one of them
    double serial_seconds() const;
    void require_limits() const;
    Gaussian permanent(PieceStore *store) const;

    const Options &options_;
    bool of_doubles_;
    std::string digest_;
    IntegerFactors factors_;
    Charge charge_;
    std::int64_t entries_ = 0, bits_ = 0;
};

} // namespace libperm
