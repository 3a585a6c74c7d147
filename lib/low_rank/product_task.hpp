// The permanent of U V^T from its factors, as a task: a piece for each prime.
#pragma once

#include "lib/input/factors.hpp"
#include "lib/low_rank/integer_factors.hpp"
#include "lib/run/outcome.hpp"
#include "lib/run/task.hpp"

#include <perm.h>

#include <cstdint>
#include <string>

namespace libperm {

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
