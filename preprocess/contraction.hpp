// Taking rows and columns out of a matrix, the step that compression and decomposition are made of.
//
// A row r that has only the entries a in column p and b in column q goes, and p and q become one column
// a col(q) + b col(p): the second matrix of Forbert and Marx's expansion (SUperman, Eq. 6). The same with
// rows and columns exchanged. The factors a and b are kept aside, so that a merge costs what the shorter of
// the two lines does.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/entry_lists.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/numbers.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace libperm {

// Products and sums that take the place of a factor or a term: whole numbers of any length are then neither
// copied nor reduced to lowest terms.
inline void multiply_by(Tracked &x, const Tracked &y) { x = x * y; }
inline void add_to(Tracked &x, const Tracked &y) { x = x + y; }

inline bool are_whole_and_real(const Gaussian &x, const Gaussian &y) {
    const auto whole = [](const mpq_class &q) { return mpz_cmp_ui(q.get_den_mpz_t(), 1) == 0; };
    return is_real(x) && is_real(y) && whole(x.re) && whole(y.re);
}
inline void multiply_by(Gaussian &x, const Gaussian &y) {
    mpz_class &whole = x.re.get_num();
    if (are_whole_and_real(x, y))
        whole *= y.re.get_num();
    else
        x = x * y;
}
inline void add_to(Gaussian &x, const Gaussian &y) {
    mpz_class &whole = x.re.get_num();
    if (are_whole_and_real(x, y))
        whole += y.re.get_num();
    else
        x = x + y;
}

// The steps of a product that comes to this.
inline std::int64_t steps_of(const Tracked &) { return 2; }
inline std::int64_t steps_of(const Gaussian &x) {
    std::int64_t limbs = 0;
    for (const mpq_class *q : {&x.re, &x.im})
        limbs += static_cast<std::int64_t>(mpz_size(q->get_num_mpz_t()) + mpz_size(q->get_den_mpz_t()));
    return 16 + 16 * limbs;
}

// Factors kept aside: lines that are merged, each times a number of its own, become the children of a new
// node, and what a line's entries are to be multiplied by is the product on the way to its root.
//
// Paths are shortened as they are gone, which takes O(log n) a time on average (Tarjan and van Leeuwen,
// J. ACM 31, 1984, for any order of links). Nothing is divided by, so a factor may be 0. Factors that no
// entry needs any more are forgotten: exact ones grow.
template <class Value> class WeightedForest {
  public:
    //
    WeightedForest(std::int32_t leaves)
        : parent_(static_cast<std::size_t>(leaves), -1),
          holders_(static_cast<std::size_t>(leaves), 0),
          steps_() {}

    // An entry begins to need the factors above a node, and does so no longer.
    void hold(std::int32_t node) { ++holders_[at(node)]; }
    void release(std::int32_t node) {
        while (--holders_[at(node)] == 0 && parent_[at(node)] >= 0) {
            factor_[at(node)] = Value();
            node = std::exchange(parent_[at(node)], -1);
        }
    }

    // The new root of two roots.
    std::int32_t join(std::int32_t x, Value times_x, std::int32_t y, Value times_y) {
        const auto root = static_cast<std::int32_t>(parent_.size());
        parent_.push_back(-1);
        holders_.push_back(0);
        factor_.resize(parent_.size());
        hang(x, std::move(times_x), root);
        hang(y, std::move(times_y), root);
        return root;
    }

    // Takes the number of an entry from its node to the root.
    void raise(std::int32_t &node, Value &number) {
        if (parent_[at(node)] < 0) return;
        shorten(node);
        multiply_by(number, factor_[at(node)]);
        steps_.take(steps_of(number));
        const std::int32_t from = std::exchange(node, parent_[at(node)]);
        hold(node);
        release(from);
    }

  private:
    static std::size_t at(std::int32_t node) { return static_cast<std::size_t>(node); }

    void hang(std::int32_t node, Value factor, std::int32_t root) {
        if (holders_[at(node)] == 0) return;
        parent_[at(node)] = root;
        factor_[at(node)] = std::move(factor);
        hold(root);
    }

    // Makes every node on the way a child of the root.
    void shorten(std::int32_t node) {
        path_.clear();
        for (; parent_[at(node)] >= 0; node = parent_[at(node)]) path_.push_back(node);
        for (std::size_t k = path_.size() - 1; k-- > 0;) {
            const std::int32_t lower = path_[k], upper = path_[k + 1];
            multiply_by(factor_[at(lower)], factor_[at(upper)]);
            steps_.take(steps_of(factor_[at(lower)]));
            parent_[at(lower)] = parent_[at(upper)];
            hold(parent_[at(upper)]);
            release(upper);
        }
    }

    std::vector<std::int32_t> parent_;  // -1: a root
    std::vector<std::int32_t> holders_; // entries and children of a node
    std::vector<Value> factor_;         // on the way to the parent
    std::vector<std::int32_t> path_;
    PolledSteps steps_;
};

template <class Value> class Contraction {
  public:
    // The block has fewer than 2^31 entries.
    explicit Contraction(BlockOf<Value> block);

    bool is_there(Line line) const { return lists_.is_there(line); }
    std::int32_t degree(Line line) const { return lists_.degree(line); }
    std::vector<std::int32_t> crossing(Line line); // the lines that cross it, ascending

    // Takes out the line and the one that crosses it at `other`. Their entry is the factor returned.
    Value remove(Line line, std::int32_t other);

    // Takes out the line and merges the lines that cross it at `first` and `second` into `first`. Other
    // entries of the line count as 0.
    void contract(Line line, std::int32_t first, std::int32_t second);

    // Lines whose degree has changed since the last call.
    std::vector<Line> take_changed() { return lists_.take_changed(); }

    BlockOf<Value> block(); // what is left, lines in their old order; nothing may follow

  private:
    Value &value(std::int32_t entry);
    void drop(Line line);
    void forget(std::int32_t entry);

    std::int32_t n_;
    EntryLists lists_;
    std::array<WeightedForest<Value>, 2> factors_;           // of rows, of columns
    std::array<std::vector<std::int32_t>, 2> node_of_line_;  // in the forest
    std::vector<std::array<std::int32_t, 2>> node_of_entry_; // up to which factors are in its value
    std::vector<Value> values_;
};

} // namespace libperm
