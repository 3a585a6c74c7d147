// The numbers of matchings with 0, 1, 2, ... edges (the rook polynomial's coefficients), exactly.
//
// With every entry times t and every line free to stay unmatched with weight 1 the sum over all matchings is
// sum_k m_k t^k. At t = 2^b, b longer than any m_k, all of them stand beside each other in one whole number
// (Kronecker's substitution): one exact computation gives them all. Of a graph that sum is a loop hafnian.
#pragma once

#include "lib/execute/plan_task.hpp"
#include "lib/plan/plan.hpp"
#include "lib/polynomial/matching_sums.hpp"
#include "lib/polynomial/rank_one_added.hpp"
#include "lib/run/outcome.hpp"
#include "lib/run/task.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libperm {

class MatchingTask final : public TaskOf<std::vector<Outcome>> {
  public:
    // How they are computed is chosen, and planned, here. `way`: plan() of the same task elsewhere, which
    // goes the same; null: that of the options' checkpoint, or the quickest. The options must outlive it.
    // Throws Error.
    MatchingTask(const perm_csr *a, const Options &options, RunControl &control,
                 const std::string *way = nullptr);

    // Of lines counted with multiplicities, from k = 0 to the lesser number of them; of a graph to half of
    // it.
    std::int64_t count() const { return count_; }
    const Plan &plan_made() const { // with the matrix and the options, if with nothing else
        return matchings_ ? matchings_->plan() : plan_;
    }

    TaskIdentity identity() const override;
    ShardCount shards() const override;
    KeptAbout about() const override;
    std::string plan() const override; // "": sums over subsets of lines
    bool is_plan(const std::string &bytes) const override;
    void require_shards() const override;
    std::vector<Outcome> run(PieceStore *store, RunControl &control, const Told &told) const override;
    void run_shard(const Shard &shard, PieceStore &store, RunControl &control) const override;

  private:
    // All of them as whole numbers.
    struct WholeNumbers {
        std::vector<mpz_class> re, im; // times denominator^k; no im: they are real
    };
    struct Entries;

    bool by_plan() const { return !sums_ && !board_; }
    const Values &values() const { return matchings_ ? matchings_->values() : values_; } // of the plan
    PlanTask plan_task() const { return PlanTask(plan_made(), values()); }
    double seconds_of_sums() const { return sums_->serial_seconds() / options_.threads; }
    void choose(Entries entries, InputPattern input, RunControl &control, const std::string *way);
    void make_plan_of(Entries &entries, InputPattern input, RunControl &control, const std::string *way);
    std::vector<mp_limb_t> run_sums(PieceStore *store, RunControl &control) const;
    WholeNumbers numbers_of(const Outcome &sum, const Poll &poll) const;
    std::vector<Outcome> answers(const WholeNumbers &numbers, const Outcome &like) const;

    const Options &options_;
    std::string matrix_; // a digest
    std::int64_t count_ = 0;
    double bits_ = 0; // that any of the numbers has at most
    mpz_class denominator_ = 1;
    // One of these four ways.
    std::optional<WholeNumbers> board_;
    std::optional<MatchingSums> sums_;
    std::optional<RankOneAdded> matchings_;
    Plan plan_; // the others' has the matrix and the options alone
    Values values_;
};

} // namespace libperm
