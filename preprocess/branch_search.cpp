#include "preprocess/branch_search.hpp"

#include "preprocess/branch_annealing.hpp"
#include "preprocess/branch_starts.hpp"
#include "preprocess/branch_walk.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace libperm {
namespace {

// A tree that is bettered: a line of search.
class Candidate {
  public:
    Candidate(BranchTree tree, std::uint64_t seed, const BranchSearchOptions &options)
        : best_(std::move(tree)),
          random_(seed),
          work_(options.poll),
          held_(options.account, 2 * best_.bytes()) {}

    const BranchTree &best() const { return best_; }
    double cost() const { return best_.seconds(); }
    double spent() const { return work_.seconds(); }

    void anneal_for(double seconds, double coldness) {
        constexpr double of_byte = 0.5; // copied: nanoseconds
        work_.take(of_byte * static_cast<double>(best_.bytes()));
        BranchTree tree = best_;
        anneal(tree, {seconds, coldness, 10 * coldness}, random_, work_);
        if (tree.seconds() < cost()) best_ = std::move(tree);
    }

  private:
    BranchTree best_;
    SearchRandom random_;
    SearchWork work_;
    Charge held_;
};

class SearchOnTree {
  public:
    SearchOnTree(const BranchLines &lines, const BranchSearchOptions &options)
        : lines_(lines),
          options_(options),
          pricing_(options.price, options.most_states, lines.count(), lines.sides()),
          starts_(options.poll),
          random_(options.seed),
          held_(options.account) {}

    // A permanent of 0, one that is out of reach, or that is had otherwise before a tree is found.
    bool hopeless() const {
        const std::int32_t degree = lines_.least_degree();
        const double other = options_.other_seconds;
        return degree == 0 || pricing_.least_seconds(degree) > SearchBudget::far * other ||
               std::min(1.0, options_.budget.effort) * start_of_an_entry * lines_.entries() >
                   options_.budget.of(other);
    }

    void start() {
        using Key = EliminationKey;
        held_.resize(bytes_of_a_start());
        eliminate({});
        if (options_.budget.effort < 1) return;
        eliminate({Key::width, LinesFirst::none, 1});
        eliminate({Key::states});
        eliminate({Key::width, LinesFirst::rows});
        eliminate({Key::width, LinesFirst::columns});
        consider([this](BranchTree &tree, const BranchLimit &limit) {
            return join_along_path(tree, limit, random_, starts_);
        });
        eliminate({Key::width, LinesFirst::none, 1});
        eliminate({Key::states, LinesFirst::none, 1});
    }

    // Rounds of annealing, each twice as long as the one before, while they are worth it. After every second,
    // one cold and one warm, half of the trees are given up.
    void better() {
        int in_vain = 0;
        keep_best(static_cast<std::size_t>(std::count_if(
            trees_.begin(), trees_.end(), [&](const auto &x) { return x->cost() <= far_behind * cost(); })));
        const double first = of_a_tree * of_first_ * static_cast<double>(trees_.size());
        for (int round = 0; !trees_.empty() && in_vain < most_in_vain; ++round) {
            if (round % 2 == 1) keep_best((trees_.size() + 1) / 2);
            const double before = cost();
            costs_.push_back(before);
            const double left = worth() - spent();
            if (left <= of_a_round * of_first_) return;
            const double seconds = std::min(std::ldexp(first, round), left);
            const double coldness = round % 2 == 0 ? 2 : 0.8;
            parallel_for(trees_.size(), [&](std::size_t k) {
                trees_[k]->anneal_for(seconds / static_cast<double>(trees_.size()), coldness);
            });
            gain_ = before - cost();
            in_vain = gain_ < 0.01 * before ? in_vain + 1 : 0;
        }
    }

    std::optional<FoundBranches> found() {
        if (trees_.empty()) return {};
        keep_best(1);
        return walked_branches(trees_.front()->best());
    }

  private:
    static constexpr double longest = 3;         // seconds of search
    static constexpr double of_a_tree = 0.3;     // of its first start: a tree's part of the first round
    static constexpr double of_a_round = 0.1;    // of its first start: less is not worth copying a tree
    static constexpr double expected_gain = 0.2; // of the first round: a part of the run
    static constexpr double most_gain = 0.25;    // of any round
    static constexpr double far_behind = 20;     // a start of so many times the cost of the best is given up
    static constexpr double patience = 6; // times what a search is worth, while it comes near the other way
    static constexpr double without_a_tree = 4;       // first starts are worth it
    static constexpr double start_of_an_entry = 1e-6; // seconds
    static constexpr std::int32_t many_entries = 30000;
    static constexpr int most_in_vain = 4; // rounds that gained nothing

    std::int64_t bytes_of_a_start() const {
        constexpr std::int64_t of_entry = 500, of_line = 100;
        return of_entry * lines_.entries() + of_line * lines_.count();
    }

    double spent() const {
        double seconds = starts_.seconds() + given_up_;
        for (const auto &tree : trees_) seconds += tree->spent();
        return seconds;
    }
    // Seconds of search, in all: what the run is worth, and as much again as the last of it has gained, but
    // not more than a part of what is left to gain.
    double worth() const {
        const SearchBudget &budget = options_.budget;
        const double other = options_.other_seconds;
        if (trees_.empty()) return without_a_tree * of_first_;
        if (cost() > SearchBudget::far * SearchBudget::far * other && spent() > budget.effort * budget.least)
            return 0;
        const double most = std::min(longest, budget.most(std::min(cost(), other)));
        const double own = budget.of(std::min(cost(), other));
        if (budget.effort < 1) return std::min({most, longest * budget.effort, own});
        if (cost() > SearchBudget::far * other) return std::min(most, own / 4);
        const double of_long_runs = 2 * budget.effort * budget.share * other;
        if (cost() > other)
            return std::min(most, comes_near(costs_, other) ? patience * own : std::max(own, of_long_runs));
        const bool alone = SearchBudget::far * cost() < other; // nobody else will search
        return std::min(most, std::max(alone ? 4 * own : own, spent() + std::min(gain_, most_gain * cost())));
    }
    double cost() const {
        double least = 1e300;
        for (const auto &tree : trees_) least = std::min(least, tree->cost());
        return least;
    }

    void eliminate(const EliminationRule &rule) {
        consider([=, this](BranchTree &tree, const BranchLimit &limit) {
            return join_by_elimination(tree, rule, limit, random_, starts_);
        });
    }

    // Starts after the first: if it is worth it.
    template <class Join> void consider(const Join &join) {
        const double before = starts_.seconds();
        if (before > 0 && before + of_first_ > worth()) return;
        BranchTree tree = branch_leaves(lines_, pricing_);
        starts_.take((lines_.entries() > many_entries ? 500.0 : 50.0) * tree.leaves()); // from memory
        const bool joined = join(tree, {before > 0 ? before + 3 * of_first_ : longest});
        if (before == 0) of_first_ = starts_.seconds();
        if (!joined) return;
        trees_.push_back(std::make_unique<Candidate>(std::move(tree), random_.bits(), options_));
        if (lines_.entries() > many_entries) keep_best(2); // for the memory
        gain_ = expected_gain * cost();
    }

    void keep_best(std::size_t count) {
        std::stable_sort(trees_.begin(), trees_.end(),
                         [](const auto &x, const auto &y) { return x->cost() < y->cost(); });
        for (; trees_.size() > count; trees_.pop_back()) given_up_ += trees_.back()->spent();
    }

    const BranchLines &lines_;
    const BranchSearchOptions &options_;
    const BranchPricing pricing_;
    SearchWork starts_;
    SearchRandom random_;
    std::vector<std::unique_ptr<Candidate>> trees_;
    Charge held_;
    std::vector<double> costs_; // of the run, before each round
    double of_first_ = 0;       // seconds of the first start
    double given_up_ = 0;       // seconds spent on trees that are no more
    double gain_ = 0;           // seconds of the run, by the last seconds of search
};

} // namespace

std::optional<FoundBranches> find_branches(const Pattern &a, const Pattern &,
                                           const BranchSearchOptions &options) {
    constexpr std::int64_t most_entries = 1 << 28;
    if (a.nnz() == 0 || a.nnz() > most_entries) return {};
    const BranchLines lines(a);
    SearchOnTree search(lines, options);
    if (search.hopeless()) return {};
    search.start();
    constexpr std::int32_t few_rows = 64; // a path is found at once: a first look need not be better
    if (options.budget.effort >= 1 || a.rows >= few_rows) search.better();
    return search.found();
}

} // namespace libperm
