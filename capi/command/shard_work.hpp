// What the shards of a part are of: a plan's work, or the samples of an estimate.
#pragma once

#include "estimate_wish.hpp"
#include "options.hpp"
#include "part_file.hpp"

#include <perm.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace perm {

class ShardWork {
  public:
    ShardWork() = default;
    ShardWork(const ShardWork &) = delete;
    ShardWork &operator=(const ShardWork &) = delete;
    virtual ~ShardWork() = default;

    virtual std::int64_t shards() const = 0;
    virtual double shard_seconds() const = 0;
    virtual std::string run_shard(std::int64_t number) const = 0;

    // How many at a time are quickest, of so many on these threads.
    virtual int runners(std::int64_t count) const = 0;
};

// `file` is the part's name. The part must outlive it.
std::unique_ptr<const ShardWork> work_of(const std::string &file, const PartFile &part,
                                         const perm_opts &opts);

// An estimate's part has its options where others have a plan.
class KeptEstimate {
  public:
    KeptEstimate(const perm_estimate_opts &wanted, const Options &options);
    explicit KeptEstimate(const std::string &bytes); // throws Error
    std::string bytes() const;
    static bool is_in(const std::string &bytes);

    // Valid as long as this is.
    perm_estimate_opts wanted() const { return wish_.wanted(); }
    perm_opts options(perm_opts opts) const; // with its reductions

  private:
    EstimateWish wish_;
};

class EstimateWork final : public ShardWork {
  public:
    EstimateWork(const PartFile &part, const perm_opts &opts);
    std::int64_t shards() const override { return estimation_.shards(); }
    double shard_seconds() const override { return estimation_.shard_seconds(); }
    std::string run_shard(std::int64_t number) const override { return estimation_.run_shard(number); }
    int runners(std::int64_t) const override { return 1; } // a shard has samples for all threads
    perm_estimated combine(const std::vector<std::string> &partials) const {
        return estimation_.combine(partials);
    }
    const perm_csr &csr() const { return csr_; }

  private:
    KeptEstimate kept_;
    ValuesView values_;
    perm_csr csr_;
    Estimation estimation_;
};

} // namespace perm
