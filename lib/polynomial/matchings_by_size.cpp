// Numbers of matchings otherwise than by one exact sum over all of them (by_power_of_two.cpp): by sums over
// subsets of lines, and of nested rows at once.
#include "jit/text/text.hpp"
#include "lib/base/log.hpp"
#include "lib/base/system.hpp"
#include "lib/number/ball.hpp"
#include "lib/polynomial/ferrers_numbers.hpp"
#include "lib/polynomial/matching_sums.hpp"
#include "lib/polynomial/substitution.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace libperm {
namespace {

bool may_serve(const LinearEntries &entries, const Options &options) {
    return !entries.input.pattern.one_sided && !options.names_engine() && options.device != Device::gpu;
}

// The entries, which are whole numbers; none: some are complex.
std::optional<std::vector<mpz_class>> real_entries(const LinearEntries &entries) {
    PolledSteps steps;
    std::vector<mpz_class> values;
    values.reserve(entries.entries());
    for (std::size_t k = 0; k < entries.entries(); ++k) {
        steps.take(16);
        Gaussian x = entries.linear_at(k);
        if (x.im != 0) return {};
        values.push_back(std::move(x.re.get_num()));
    }
    return values;
}

std::vector<Outcome> outcomes_of(std::vector<mpz_class> numbers, const Outcome &like) {
    std::vector<Outcome> all(numbers.size(), like);
    for (std::size_t k = 0; k < all.size(); ++k) set_value(all[k], WideBall{{mpq_class(numbers[k]), 0}, {}});
    return all;
}

class BySubsets final : public Substitution {
  public:
    BySubsets(const LinearEntries &entries, const Options &options, MatchingSums sums)
        : sums_(std::move(sums)),
          count_(at(entries.count)),
          plan_(no_plan(entries, options)),
          task_(plan_, "sums over subsets", sums_.serial_seconds(), sums_.pieces(),
                [this](PieceStore *store) { run(store); }) {}

    const Plan &plan() const override { return plan_; }
    const Task &task() const override { return task_; }
    bool is_planned() const override { return false; }
    double seconds() const override { return sums_.serial_seconds() / plan_.options.threads; }

    std::vector<Outcome> coefficients(PieceStore *store) const override {
        std::vector<mpz_class> numbers = sums_.numbers(run(store), count_);
        Outcome like;
        like.engine = engine_for(Goal::matchings);
        like.blocks = like.blocks_computed = 1;
        like.predicted_seconds = seconds();
        like.counts.subsets = sums_.terms();
        return outcomes_of(std::move(numbers), like);
    }

  private:
    std::vector<mp_limb_t> run(PieceStore *store) const {
        const double share = store ? store->share() : 1, predicted = share * seconds();
        if (predicted > plan_.options.refuse_seconds)
            throw refused_for_time(
                formatted("the numbers of matchings by sums over {:.3g} subsets are", sums_.terms()),
                predicted, plan_.options);
        log_decision(formatted("numbers of matchings: sums over {:.3g} subsets of lines, {} predicted",
                               sums_.terms(), readable_seconds(predicted)));
        const Charge held(&call().memory(), sums_.bytes());
        call().begin(share * sums_.terms(), predicted);
        CurrentCall own(1, PieceScope{store, {}});
        return sums_.sums(plan_.options.threads);
    }

    const MatchingSums sums_;
    const std::size_t count_;
    const Plan plan_;
    const SumsTask task_;
};

class OfNestedRows final : public Substitution {
  public:
    OfNestedRows(const LinearEntries &entries, const Options &options, std::vector<mpz_class> numbers)
        : numbers_(std::move(numbers)),
          plan_(no_plan(entries, options)),
          task_(plan_, "none", 0, 1, [](PieceStore *) {}) {}

    const Plan &plan() const override { return plan_; }
    const Task &task() const override { return task_; }
    bool is_planned() const override { return false; }
    double seconds() const override { return 0; }
    std::vector<Outcome> coefficients(PieceStore *) const override { return outcomes_of(numbers_, {}); }

  private:
    const std::vector<mpz_class> numbers_;
    const Plan plan_;
    const SumsTask task_;
};

} // namespace

std::unique_ptr<Substitution> by_subsets(const LinearEntries &entries, const Options &options) {
    if (!may_serve(entries, options)) return nullptr;
    const Pattern &a = as_given(entries.input).pattern;
    const Charge charge(&call().memory(), a.nnz() * 64);
    auto values = real_entries(entries);
    if (!values) return nullptr;
    PolledSteps steps;
    const LineCounts rows = entries.row_count(), columns = entries.column_count();
    const double bits = entries.coefficient_size().bits;
    std::optional<MatchingSums> over_rows = MatchingSums::of(a, *values, rows, columns, bits);
    const Transposed turned = transpose(a);
    std::vector<mpz_class> in_columns;
    in_columns.reserve(turned.source.size());
    for (const std::int64_t k : turned.source) {
        steps.take(16);
        in_columns.push_back(std::move((*values)[at(k)]));
    }
    std::optional<MatchingSums> over_columns =
        MatchingSums::of(turned.pattern, in_columns, columns, rows, bits);
    const bool takes_rows =
        over_rows && (!over_columns || over_rows->serial_seconds() < over_columns->serial_seconds());
    std::optional<MatchingSums> &sums = takes_rows ? over_rows : over_columns;
    if (!sums) return nullptr;
    return std::make_unique<BySubsets>(entries, options, *std::move(sums));
}

std::unique_ptr<Substitution> of_nested_rows(const LinearEntries &entries, const Options &options) {
    if (!may_serve(entries, options)) return nullptr;
    const Pattern &a = as_given(entries.input).pattern;
    const Charge charge(&call().memory(), a.nnz() * 32);
    const auto values = real_entries(entries);
    if (!values) return nullptr;
    auto numbers =
        ferrers_numbers(a, *values, entries.row_count(), entries.column_count(), at(entries.count));
    if (!numbers) return nullptr;
    return std::make_unique<OfNestedRows>(entries, options, *std::move(numbers));
}

} // namespace libperm
