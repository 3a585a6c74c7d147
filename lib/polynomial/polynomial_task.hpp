// The coefficients of perm(C + x L), or of a graph's hafnian, as a task: which substitution finds them, and
// what follows where that tells less than was asked for.
#pragma once

#include "lib/polynomial/substitution.hpp"
#include "lib/run/task.hpp"

#include <memory>
#include <string>
#include <vector>

namespace libperm {

class PolynomialTask final : public TaskOf<std::vector<Outcome>> {
  public:
    // `way`: plan() of the same task elsewhere, which goes the same; null: that of the options' checkpoint,
    // or the quickest. The options must outlive it. Throws Error.
    PolynomialTask(const perm_csr *a, const void *linear, const Options &options, RunControl &control,
                   const std::string *way = nullptr);

    std::int64_t count() const { return entries_.count; }
    const Plan &plan_made() const { return substitution_->plan(); }

    TaskIdentity identity() const override;
    ShardCount shards() const override { return substitution_->task().shards(); }
    KeptAbout about() const override;
    std::string plan() const override;
    bool is_plan(const std::string &bytes) const override;
    void require_shards() const override { substitution_->task().require_shards(); }
    std::vector<Outcome> run(PieceStore *store, RunControl &control, const Told &told) const override;
    void run_shard(const Shard &shard, PieceStore &store, RunControl &control) const override {
        substitution_->task().run_shard(shard, store, control);
    }

  private:
    void choose(RunControl &control);
    void choose_as(const std::string &way, RunControl &control);
    void set_zeros(std::vector<Outcome> &found) const;
    bool is_met(const std::vector<Outcome> &found) const;
    void run_again(std::vector<Outcome> &found, PieceStore *store, RunControl &control) const;

    const Options &options_;
    LinearEntries entries_;
    std::unique_ptr<const Substitution> substitution_;
    char form_ = 0; // which substitution it is, in saved tasks
};

} // namespace libperm
