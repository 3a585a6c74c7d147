// The coefficients of perm(C + x L), or of a graph's hafnian, and numbers of matchings, as tasks: which
// substitution finds them, and what follows where that tells less than was asked for.
#pragma once

#include "lib/polynomial/substitution.hpp"
#include "lib/run/tasks.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace libperm {

// What a substitution finds, in a way that a task keeps.
class CoefficientTask : public TaskOf<std::vector<Outcome>> {
  public:
    std::int64_t count() const { return entries_.count; }
    const Plan &plan_made() const { return substitution_->plan_made(); }

    TaskIdentity identity() const override;
    ShardCount shards() const override { return substitution_->task().shards(); }
    KeptAbout about() const override;
    std::string plan() const override;
    bool is_plan(const std::string &bytes) const override;
    void require_shards() const override { substitution_->task().require_shards(); }
    std::vector<Outcome> run(PieceStore *store, const Told &told) const override;
    void run_shard(const Shard &shard, PieceStore &store) const override {
        substitution_->task().run_shard(shard, store);
    }

  protected:
    CoefficientTask(LinearEntries entries, const Options &options, std::string_view kind)
        : options_(options), entries_(std::move(entries)), kind_(kind) {}

    // A way's form, and the bytes of its plan.
    struct Way {
        char form = 0;
        std::string plan;
    };
    // plan() of the same task elsewhere, else that of the options' checkpoint; none: one is to be chosen.
    std::optional<Way> way_named(const std::string *way) const;
    void take(std::unique_ptr<const Substitution> substitution, char form); // null: throws Error
    // All again, where they miss what was asked for.
    virtual void improve(std::vector<Outcome> &, PieceStore *) const {}

    const Options &options_;
    const LinearEntries entries_;
    char form_ = 0; // which substitution it is, in saved tasks

  private:
    const std::string_view kind_;
    std::unique_ptr<const Substitution> substitution_;
};

class PolynomialTask final : public CoefficientTask {
  public:
    // `way`: plan() of the same task elsewhere, which goes the same; null: that of the options' checkpoint,
    // or the quickest. The options must outlive it. Throws Error.
    PolynomialTask(const perm_csr *a, const void *linear, const Options &options,
                   const std::string *way = nullptr);

  private:
    void choose();
    void choose_as(const Way &way);
    bool is_met(const std::vector<Outcome> &found) const;
    void improve(std::vector<Outcome> &found, PieceStore *store) const override;
};

// The numbers of matchings with 0, 1, 2, ... edges (the rook polynomial's coefficients), exactly. Of lines
// counted with multiplicities, from k = 0 to the lesser number of them; of a graph to half of it.
class MatchingTask final : public CoefficientTask {
  public:
    MatchingTask(const perm_csr *a, const Options &options, const std::string *way = nullptr);

  private:
    void choose(const std::optional<Way> &way);
};

} // namespace libperm
