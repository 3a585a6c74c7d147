// Terms of a periodic matrix as a task: exact ones in groups of primes, others in one piece.
#pragma once

#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/answers/residue_terms.hpp"
#include "lib/run/escalation.hpp"
#include "lib/run/results.hpp"
#include "lib/run/tasks.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libperm {

// It is chosen by predicted time, so by the machine as well: what is kept of one way is of no use to another.
struct TermsWay {
    enum class Numbers { exact, doubles, dd, modulo } numbers = Numbers::exact;
    TermPrimes primes{residue_bits, 1}; // of exact ones

    bool is_exact() const { return numbers == Numbers::exact; }
    bool is_in_floats() const { return numbers == Numbers::doubles || numbers == Numbers::dd; }

    template <class Archive> void serialize(Archive &ar) {
        choice(ar, numbers, Numbers::modulo);
        ar(primes);
    }
};

struct AskedTerms {
    const PeriodicPlan *plan;
    std::int64_t first, count; // of lengths

    std::int64_t last() const { return first + count - 1; }
};

class PeriodicTask final : public TaskOf<std::vector<Outcome>> {
  public:
    // Of a(first), a(first + 1), ..., one at least; the plan must outlive it. With precision auto whole
    // numbers are exact where that takes `instant_seconds` at most, with 0 only where the tolerance is
    // missed; else they are doubles, then dd, then exact, as run/escalation.hpp has it. `way`: plan() of the
    // same task elsewhere, which goes the same; null: that of the options' checkpoint, or by predicted time.
    // Throws Error.
    PeriodicTask(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                 double instant_seconds = second_run_seconds, const std::string *way = nullptr);

    std::int64_t count() const { return asked_.count; }

    TaskIdentity identity() const override;
    ShardCount shards() const override;
    KeptAbout about() const override;
    std::string plan() const override;
    bool is_plan(const std::string &bytes) const override { return bytes == plan(); }
    std::vector<Outcome> run(PieceStore *store, const Told &told) const override;
    void run_shard(const Shard &shard, PieceStore &store) const override;

  private:
    using Numbers = TermsWay::Numbers;

    std::vector<Outcome> modulo() const;
    std::vector<Outcome> found_by(const TermsWay &way, double seconds, PieceStore *store) const;
    void escalate(std::vector<Outcome> &outcomes, PieceStore *store) const;

    const PeriodicPlan &given_;
    AskedTerms asked_; // of that plan, or of it written out
    TermsWay way_;
    double seconds_ = 0; // that it takes on one thread
};

// Such a task, run; none of no terms.
std::vector<Outcome> periodic_terms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                                    double instant_seconds = second_run_seconds);

// Seconds that this takes at least, on the plan's threads, roughly.
double periodic_seconds(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                        double instant_seconds = second_run_seconds);

} // namespace libperm
