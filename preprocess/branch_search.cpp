#include "preprocess/branch_search.hpp"

#include "preprocess/branch_starts.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace libperm {
namespace {

// ---------------------------------------------------------------- annealing by rotations

// A rotation that makes its two joins f times as dear is made with the probability f^-coldness.
struct AnnealingSchedule {
    double seconds = 0; // of work
    double first_coldness = 3, last_coldness = 30;
};

// The joins that most of the run goes into.
void find_dear(const BranchTree &tree, std::vector<std::int32_t> &dear) {
    dear.clear();
    const double mean = tree.seconds() / (tree.size() - tree.leaves());
    for (std::int32_t k = tree.leaves(); k < tree.size(); ++k)
        if (tree.node(k).seconds > mean) dear.push_back(k);
}

std::int32_t below(std::uint64_t bits, std::int32_t n) {
    return static_cast<std::int32_t>((bits >> 33) * static_cast<std::uint64_t>(n) >> 31);
}

void anneal(BranchTree &tree, const AnnealingSchedule &schedule, SearchRandom &random, SearchWork &work) {
    const std::int32_t joins = tree.size() - tree.leaves();
    if (joins < 2) return;
    constexpr int between = 256;                // rotations of one temperature
    constexpr std::int32_t most_cached = 20000; // nodes: those of larger trees come from memory
    const double fetched = tree.size() > most_cached ? 800 : 0;
    std::vector<std::int32_t> dear;
    std::int32_t until_found = 0; // rotations before the dear ones are looked for
    const double start = work.seconds();
    const auto gone_by = [&] { return (work.seconds() - start) / schedule.seconds; };
    while (gone_by() < 1) {
        const double gone = gone_by();
        const double coldness =
            schedule.first_coldness * std::pow(schedule.last_coldness / schedule.first_coldness, gone);
        double taken = 0;
        if (until_found <= 0) {
            find_dear(tree, dear);
            until_found = joins;
            taken += 3.0 * joins;
        }
        until_found -= between;
        for (int k = 0; k < between; ++k) {
            const std::uint64_t bits = random.bits();
            // One in two among the dear ones, or next to them.
            std::int32_t parent = tree.leaves() + below(bits, joins);
            if ((bits & 4) && !dear.empty()) {
                parent = dear[static_cast<std::size_t>(below(bits, static_cast<std::int32_t>(dear.size())))];
                if ((bits & 24) == 0 && tree.node(parent).parent >= 0) parent = tree.node(parent).parent;
                if ((bits & 24) == 8)
                    parent = std::max(tree.node(parent).child[bits >> 5 & 1], tree.leaves());
            }
            const auto rotation = tree.rotation(parent, bits & 1, bits >> 1 & 1);
            taken += 10;
            if (!rotation) continue;
            const BranchTree::Rotated to = tree.rotated(*rotation);
            taken += fetched + 100 + 3 * static_cast<double>(to.lines);
            if (to.after > to.before &&
                random.uniform() >= std::exp(coldness * std::log2(to.before / to.after)))
                continue;
            tree.rotate(*rotation, to);
            taken += 40 + 2 * static_cast<double>(to.lines);
        }
        work.take(taken);
    }
    tree.sum_seconds();
}

// ---------------------------------------------------------------- the tree as it is run

bool is_leaf(const BranchTree &tree, std::int32_t k) {
    return k < tree.leaves() || tree.is_line(tree.node(k));
}

BranchLeaf leaf_at(const BranchTree &tree, std::int32_t k) {
    if (k < tree.leaves()) return tree.leaf(k);
    const BranchNode &x = tree.node(k);
    const std::int32_t line = x.row >= 0 ? x.row : x.column;
    if (tree.lines().is_row(line)) return {BranchLeaf::Kind::row, line, -1};
    return {BranchLeaf::Kind::column, line - tree.lines().rows(), -1};
}

// Every node after those above it.
std::vector<std::int32_t> from_the_root(const BranchTree &tree) {
    std::vector<std::int32_t> order;
    std::int32_t root = 0;
    while (tree.node(root).parent >= 0) root = tree.node(root).parent;
    order.push_back(root);
    for (std::size_t k = 0; k < order.size(); ++k)
        if (!is_leaf(tree, order[k]))
            for (const std::int32_t child : tree.node(order[k]).child) order.push_back(child);
    return order;
}

// Of each node the states at once below it, and which child comes first.
struct Peaks {
    std::vector<double> states;
    std::vector<char> second_first;
};

Peaks find_peaks(const BranchTree &tree, const std::vector<std::int32_t> &order) {
    Peaks peaks{std::vector<double>(at(tree.size()), 0), std::vector<char>(at(tree.size()), 0)};
    const auto table = [&](std::int32_t k) { return is_leaf(tree, k) ? 0.0 : tree.node(k).states.count; };
    for (auto k = order.rbegin(); k != order.rend(); ++k) {
        if (is_leaf(tree, *k)) continue;
        const auto [a, b] = tree.node(*k).child;
        const double first = std::max(peaks.states[at(a)], table(a) + peaks.states[at(b)]),
                     second = std::max(peaks.states[at(b)], table(b) + peaks.states[at(a)]);
        peaks.second_first[at(*k)] = second < first;
        peaks.states[at(*k)] = std::max(table(a) + table(b) + table(*k), std::min(first, second));
    }
    return peaks;
}

// Its joins in the order that holds the fewest states at once; subtrees that are all of a line are leaves.
FoundBranches walked_branches(const BranchTree &tree) {
    const std::vector<std::int32_t> order = from_the_root(tree);
    const Peaks peaks = find_peaks(tree, order);
    FoundBranches found;
    found.peak_states = peaks.states[at(order.front())];
    std::vector<std::int32_t> number(at(tree.size()), -1);
    const auto leaves = static_cast<std::int32_t>(
        std::count_if(order.begin(), order.end(), [&](std::int32_t k) { return is_leaf(tree, k); }));
    std::vector<std::pair<std::int32_t, bool>> stack{{order.front(), false}}; // its children are done
    while (!stack.empty()) {
        const auto [k, done] = stack.back();
        stack.pop_back();
        if (is_leaf(tree, k)) {
            number[at(k)] = static_cast<std::int32_t>(found.tree.leaves.size());
            found.tree.leaves.push_back(leaf_at(tree, k));
            continue;
        }
        auto [a, b] = tree.node(k).child;
        if (peaks.second_first[at(k)]) std::swap(a, b);
        if (done) {
            number[at(k)] = leaves + static_cast<std::int32_t>(found.tree.joins.size());
            found.tree.joins.push_back({number[at(a)], number[at(b)]});
            found.seconds += tree.node(k).seconds;
        } else {
            stack.push_back({k, true});
            stack.push_back({b, false});
            stack.push_back({a, false});
        }
    }
    return found;
}

// ---------------------------------------------------------------- the search

// A tree that is bettered: a line of search.
class Candidate {
  public:
    Candidate(BranchTree tree, std::uint64_t seed, const BranchSearchOptions &options)
        : best_(std::move(tree)), random_(seed), held_(options.account, 2 * best_.bytes()) {}

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

std::optional<FoundBranches> find_branches(const Pattern &a, const BranchSearchOptions &options) {
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
