#include "preprocess/branch_starts.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <utility>

namespace libperm {
namespace {

// The roots that each line is in, while roots are joined.
class RootsOfLines {
  public:
    RootsOfLines(BranchTree &tree, const BranchLimit &limit, SearchWork &work)
        : tree_(tree), limit_(limit), work_(work), first_(at(tree.lines().count()) + 1, 0) {
        up_.resize(at(tree.size()));
        std::iota(up_.begin(), up_.end(), 0);
        for (std::int32_t k = 0; k < tree.size(); ++k)
            for (const std::int32_t line : tree.middle(k)) ++first_[at(line) + 1];
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        count_.assign(first_.size() - 1, 0);
        roots_.resize(at(first_.back()));
        for (std::int32_t k = 0; k < tree.size(); ++k)
            for (const std::int32_t line : tree.middle(k))
                roots_[at(first_[at(line)] + count_[at(line)]++)] = k;
        seen_.assign(at(2 * tree.size()), 0);
        width_.assign(count_.size(), 0);
        for (std::int32_t k = 0; k < tree.size(); ++k) add_width(k, 1);
    }

    // At most so many other lines would wait, were all roots with the line joined.
    std::int64_t most_beside(std::int32_t line) const { return width_[at(line)]; }

    std::span<const std::int32_t> of(std::int32_t line) {
        std::int32_t *const begin = roots_.data() + first_[at(line)];
        std::int32_t kept = 0;
        ++tick_;
        for (std::int32_t k = 0; k < count_[at(line)]; ++k) {
            const std::int32_t root = find(begin[k]);
            if (seen_[at(root)] == tick_) continue;
            seen_[at(root)] = tick_;
            begin[kept++] = root;
        }
        work_.take(8 + 6 * count_[at(line)]);
        count_[at(line)] = kept;
        return {begin, static_cast<std::size_t>(kept)};
    }

    // All roots with the line become one; -1 where the limit is reached or there is none.
    std::int32_t join_around(std::int32_t line) {
        const auto roots = of(line);
        if (roots.empty()) return -1;
        std::vector<std::int32_t> rest(roots.begin(), roots.end());
        return rest.size() <= few ? join_cheapest_first(rest) : join_smallest_first(rest);
    }

  private:
    static constexpr std::size_t few = 10;

    std::int32_t find(std::int32_t k) {
        while (up_[at(k)] != k) k = up_[at(k)] = up_[at(up_[at(k)])];
        return k;
    }

    void add_width(std::int32_t root, std::int64_t times) {
        const auto middle = tree_.middle(root);
        for (const std::int32_t line : middle) width_[at(line)] += times * (std::ssize(middle) - 1);
    }

    std::int32_t join(std::int32_t a, std::int32_t b) {
        work_.take(150 + 6 * (tree_.node(a).states.width + tree_.node(b).states.width));
        for (const std::int32_t side : {a, b}) add_width(side, -1);
        const std::int32_t k = tree_.join(a, b);
        add_width(k, 1);
        up_.push_back(k);
        up_[at(a)] = up_[at(b)] = k;
        return limit_.holds(tree_.node(k), work_) ? k : -1;
    }

    std::int32_t join_cheapest_first(std::vector<std::int32_t> &rest) {
        while (rest.size() > 1) {
            std::size_t i = 0, j = 1;
            if (rest.size() > 2) {
                double least = 1e300;
                for (std::size_t x = 0; x < rest.size(); ++x)
                    for (std::size_t y = 0; y < x; ++y) {
                        work_.take(100 +
                                   4 * (tree_.node(rest[x]).states.width + tree_.node(rest[y]).states.width));
                        const double seconds = tree_.seconds_of_join(rest[x], rest[y]);
                        if (seconds >= least) continue;
                        least = seconds;
                        i = y;
                        j = x;
                    }
            }
            const std::int32_t k = join(rest[i], rest[j]);
            if (k < 0) return -1;
            rest[i] = k;
            rest[j] = rest.back();
            rest.pop_back();
        }
        return rest.front();
    }

    std::int32_t join_smallest_first(const std::vector<std::int32_t> &rest) {
        using Sized = std::pair<double, std::int32_t>;
        std::priority_queue<Sized, std::vector<Sized>, std::greater<>> queue;
        for (const std::int32_t k : rest) queue.emplace(tree_.node(k).states.count, k);
        for (;;) {
            const std::int32_t a = queue.top().second;
            queue.pop();
            if (queue.empty()) return a;
            const std::int32_t b = queue.top().second;
            queue.pop();
            const std::int32_t k = join(a, b);
            if (k < 0) return -1;
            queue.emplace(tree_.node(k).states.count, k);
        }
    }

    BranchTree &tree_;
    const BranchLimit &limit_;
    SearchWork &work_;
    std::vector<std::int32_t> up_; // towards the root of a node
    std::vector<std::int32_t> first_, count_, roots_;
    std::vector<std::int64_t> width_; // of a line: of its roots, without itself, in all
    std::vector<std::int64_t> seen_;  // of a node: the last tick
    std::int64_t tick_ = 0;
};

// Roots that share no line: of a matrix in parts.
void join_parts(BranchTree &tree, SearchWork &work) {
    std::vector<std::int32_t> roots;
    for (std::int32_t k = 0; k < tree.size(); ++k)
        if (tree.node(k).parent < 0) roots.push_back(k);
    for (std::size_t k = 1; k < roots.size(); ++k) {
        work.take(150);
        roots[0] = tree.join(roots[0], roots[k]);
    }
}

class Elimination {
  public:
    Elimination(BranchTree &tree, const EliminationRule &rule, const BranchLimit &limit, SearchRandom &random,
                SearchWork &work)
        : tree_(tree), rule_(rule), work_(work), roots_(tree, limit, work) {
        const std::size_t lines = at(tree.lines().count());
        noise_.assign(lines, 0);
        if (rule.noise > 0)
            for (double &x : noise_) x = rule.noise * random.uniform();
        key_.assign(lines, -1);
        times_.assign(lines, 0);
    }

    bool run() {
        const std::int32_t rows = tree_.lines().rows(), lines = tree_.lines().count();
        if (rule_.first != LinesFirst::none) {
            const bool of_rows = rule_.first == LinesFirst::rows;
            for (std::int32_t line = of_rows ? 0 : rows; line < (of_rows ? rows : lines); ++line)
                if (tree_.roots_with(line) > 0 && roots_.join_around(line) < 0) return false;
        }
        for (std::int32_t line = 0; line < lines; ++line)
            if (tree_.roots_with(line) > 0) find_key(line);
        while (!queue_.empty()) {
            const auto [key, line] = queue_.top();
            queue_.pop();
            if (key != key_[at(line)] || tree_.roots_with(line) == 0) continue;
            const std::int32_t root = roots_.join_around(line);
            if (root < 0) return false;
            if (tree_.node(root).states.width > most_told) continue;
            for (const std::int32_t other : tree_.middle(root)) find_key(other);
        }
        join_parts(tree_, work_);
        return true;
    }

  private:
    static constexpr std::int32_t most_told = 500; // of lines whose degrees a join may have changed

    void find_key(std::int32_t line) {
        const double key = noise_[at(line)] + key_of(line);
        if (key == key_[at(line)]) return;
        key_[at(line)] = key;
        queue_.emplace(key, line);
    }

    // Of the node that it would make; an upper bound of its width where that is long to find out.
    double key_of(std::int32_t line) {
        constexpr std::int32_t most_roots = 12;
        constexpr std::size_t most_lines = 500;
        if (tree_.roots_with(line) > most_roots) return static_cast<double>(roots_.most_beside(line));
        merged_.clear();
        std::int32_t bound = 0, used = 0;
        double before = 0;
        for (const std::int32_t root : roots_.of(line)) {
            bound += tree_.node(root).states.width;
            if (merged_.size() > most_lines) continue;
            work_.take(10 + 4 * tree_.node(root).states.width);
            used += tree_.node(root).surplus;
            before += tree_.node(root).states.count;
            for (const std::int32_t other : tree_.middle(root))
                if (times_[at(other)]++ == 0) merged_.push_back(other);
        }
        std::int32_t width = 0;
        for (const std::int32_t other : merged_) {
            const bool stays = std::exchange(times_[at(other)], 0) < tree_.roots_with(other);
            const bool row = tree_.lines().is_row(other);
            width += stays;
            used += row ? 1 : stays ? 0 : -1;
        }
        if (merged_.size() > most_lines) return bound;
        if (rule_.key == EliminationKey::width) return width;
        const double more = tree_.pricing().states(width, used).count - before;
        return more > 0 ? std::log2(1 + more) : -std::log2(1 - more);
    }

    BranchTree &tree_;
    const EliminationRule &rule_;
    SearchWork &work_;
    RootsOfLines roots_;
    std::vector<double> noise_, key_;
    std::vector<std::int32_t> times_, merged_;
    using Keyed = std::pair<double, std::int32_t>;
    std::priority_queue<Keyed, std::vector<Keyed>, std::greater<>> queue_;
};

class Path {
  public:
    Path(BranchTree &tree, const BranchLimit &limit, SearchRandom &random, SearchWork &work)
        : tree_(tree),
          lines_(tree.lines()),
          limit_(limit),
          random_(random),
          work_(work),
          left_(at(lines_.count())),
          listed_(at(lines_.count()), 0),
          taken_(at(lines_.entries()), 0) {
        for (std::int32_t line = 0; line < lines_.count(); ++line) left_[at(line)] = lines_.degree(line);
    }

    bool run() {
        std::int32_t line = random_.below(lines_.count());
        for (std::int32_t fresh = 0;; line = next()) {
            while (line < 0 && fresh < lines_.count()) {
                if (left_[at(fresh)] > 0) line = fresh;
                ++fresh;
            }
            if (line < 0) return true;
            if (!take(line)) return false;
        }
    }

  private:
    bool take(std::int32_t line) {
        for (const std::int32_t e : lines_.on(line)) {
            if (taken_[at(e)]) continue;
            taken_[at(e)] = 1;
            for (const std::int32_t l : lines_.of(e)) {
                --left_[at(l)];
                if (std::exchange(listed_[at(l)], 1) == 0) candidates_.push_back(l);
            }
            if (root_ >= 0) {
                work_.take(150 + 6 * tree_.node(root_).states.width);
                root_ = tree_.join(root_, e);
                if (!limit_.holds(tree_.node(root_), work_)) return false;
            } else {
                root_ = e;
            }
        }
        return true;
    }

    // The next of the lines that are open.
    std::int32_t next() {
        std::int32_t chosen = -1;
        double lowest = 1e300;
        std::size_t kept = 0;
        for (std::size_t c = 0; c < candidates_.size(); ++c) {
            const std::int32_t line = candidates_[c];
            if (left_[at(line)] == 0) continue;
            candidates_[kept++] = line;
            double score = 0.5 * random_.uniform() - 1; // it closes itself
            for (const std::int32_t e : lines_.on(line)) {
                if (taken_[at(e)]) continue;
                const std::int32_t other = lines_.other(line, e);
                score += (listed_[at(other)] ? 0 : 1) - (left_[at(other)] == 1 ? 1 : 0);
            }
            work_.take(10 + 3 * lines_.degree(line));
            if (score >= lowest) continue;
            lowest = score;
            chosen = line;
        }
        candidates_.resize(kept);
        return chosen;
    }

    BranchTree &tree_;
    const BranchLines &lines_;
    const BranchLimit &limit_;
    SearchRandom &random_;
    SearchWork &work_;
    std::vector<std::int32_t> left_; // entries of a line that are not taken
    std::vector<char> listed_, taken_;
    std::vector<std::int32_t> candidates_;
    std::int32_t root_ = -1;
};

} // namespace

BranchTree branch_leaves(const BranchLines &lines, const BranchPricing &pricing) {
    BranchTree tree(lines, pricing);
    for (std::int32_t e = 0; e < lines.entries(); ++e)
        tree.add_leaf({BranchLeaf::Kind::entry, lines.of(e).front(), e});
    return tree;
}

bool join_by_elimination(BranchTree &tree, const EliminationRule &rule, const BranchLimit &limit,
                         SearchRandom &random, SearchWork &work) {
    return Elimination(tree, rule, limit, random, work).run();
}

bool join_along_path(BranchTree &tree, const BranchLimit &limit, SearchRandom &random, SearchWork &work) {
    return Path(tree, limit, random, work).run();
}

} // namespace libperm
