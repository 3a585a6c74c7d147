// Taking rows and columns out of a matrix, the step that compression and decomposition are made of.
//
// A row r that has only the entries a in column p and b in column q goes, and p and q become one column
// a col(q) + b col(p): the second matrix of Forbert and Marx's expansion (SUperman, Eq. 6). The same with
// rows and columns exchanged. The factors a and b are kept aside, so that a merge costs what the shorter of
// the two lines does.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/numbers.hpp"
#include "preprocess/pattern.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace libperm {

struct Line {
    bool is_column = false;
    std::int32_t index = -1;
    friend bool operator==(const Line &, const Line &) = default;
};

// The entries of a square pattern as lists by row and by column, out of which lines are taken and in which
// lines are merged: the shorter one's entries into the longer one's list. An entry that is moved finds itself
// in a list at least twice as long, so that all merges together move O(nnz log nnz), however long some lines
// are.
class EntryLists {
  public:
    // Entries are numbered as in the pattern, of fewer than 2^31.
    explicit EntryLists(const Pattern &a) : entries_(at(a.nnz())), mark_(at(std::max(a.rows, a.cols)), -1) {
        const std::array<std::int32_t, 2> lines{a.rows, a.cols};
        for (const std::size_t side : {0u, 1u})
            for (std::int32_t i = 0; i < lines[side]; ++i) {
                steps_.take();
                lists_[side].push_back({-1, 0, i});
                list_of_line_[side].push_back(i);
            }
        for (std::int32_t i = a.rows; i-- > 0;) { // lists begin with what was linked last
            const auto row = a.row(i);
            steps_.take(1 + 2 * static_cast<std::int64_t>(row.size()));
            for (std::size_t k = row.size(); k-- > 0;) {
                const auto e = static_cast<std::int32_t>(a.row_begin(i) + static_cast<std::int64_t>(k));
                link(e, 0, i);
                link(e, 1, row[k]);
            }
        }
    }

    bool is_there(Line line) const { return list_of(line) >= 0; }
    std::int32_t degree(Line line) const {
        return is_there(line) ? lists_of(line)[at(list_of(line))].degree : 0;
    }

    // Pairs of a crossing line and its entry, ascending; until the next call.
    using Crossings = std::vector<std::pair<std::int32_t, std::int32_t>>;
    const Crossings &crossings(Line line) {
        crossings_.clear();
        const std::size_t side = side_of(line.is_column), across = 1 - side;
        for (std::int32_t e = lists_of(line)[at(list_of(line))].first; e >= 0; e = entries_[at(e)].next[side])
            crossings_.emplace_back(lists_[across][at(entries_[at(e)].list[across])].line, e);
        steps_.take(static_cast<std::int64_t>(crossings_.size()));
        std::sort(crossings_.begin(), crossings_.end());
        return crossings_;
    }
    std::int32_t entry(Line line, std::int32_t other) const {
        const std::size_t side = side_of(line.is_column);
        return find_in(side, list_of(line), list_of_line_[1 - side][at(other)]);
    }

    // `removed` is told each of its entries.
    template <class F> void drop(Line line, const F &removed) {
        for (const auto &[other, e] : crossings(line)) {
            changed_.push_back({!line.is_column, other});
            remove(e);
            removed(e);
        }
        list_of_line_[side_of(line.is_column)][at(line.index)] = -1;
    }

    // Merges `second` into `first`. Of each line that crosses both, `twins` is told the entry at the first
    // and the one at the second, and which of the two stays.
    struct Twins {
        std::int32_t at_first, at_second;
        bool first_stays;
    };
    template <class F> void merge(bool columns, std::int32_t first, std::int32_t second, const F &twins) {
        const std::size_t side = side_of(columns), across = 1 - side;
        Lists &lists = lists_[side];
        std::int32_t &list_of_first = list_of_line_[side][at(first)];
        const std::int32_t p = list_of_first, q = std::exchange(list_of_line_[side][at(second)], -1);
        const bool first_stays = lists[at(p)].degree >= lists[at(q)].degree;
        const std::int32_t into = first_stays ? p : q, from = first_stays ? q : p;
        list_of_first = into;
        lists[at(into)].line = first;

        const bool marks = lists[at(into)].degree / 4 <= lists[at(from)].degree;
        if (marks)
            for (std::int32_t e = lists[at(into)].first; e >= 0; e = entries_[at(e)].next[side])
                mark_[at(entries_[at(e)].list[across])] = e;
        const std::size_t changed = changed_.size();
        for (std::int32_t e = lists[at(from)].first, next = -1; e >= 0; e = next) {
            steps_.take(4);
            next = entries_[at(e)].next[side];
            const std::int32_t crossing = entries_[at(e)].list[across];
            const std::int32_t twin = marks ? mark_[at(crossing)] : find(side, into, crossing);
            if (twin >= 0) {
                first_stays ? twins(Twins{twin, e, true}) : twins(Twins{e, twin, false});
                changed_.push_back({!columns, lists_[across][at(crossing)].line});
                remove(e);
            } else {
                unlink(e, side);
                link(e, side, into);
                if (!table_.empty()) enter(e);
            }
        }
        if (marks)
            for (std::int32_t e = lists[at(into)].first; e >= 0; e = entries_[at(e)].next[side])
                mark_[at(entries_[at(e)].list[across])] = -1;
        std::sort(changed_.begin() + static_cast<std::ptrdiff_t>(changed), changed_.end(),
                  [](const Line &x, const Line &y) { return x.index < y.index; });
        changed_.push_back({columns, first});
    }

    // Lines whose degree has changed since the last call.
    std::vector<Line> take_changed() { return std::exchange(changed_, {}); }

  private:
    static constexpr std::int32_t short_list = 32; // is looked through sooner than hashed
    struct Entry {
        std::array<std::int32_t, 2> list, next, previous; // by row, by column; list -1: there no longer
        bool is_there() const { return list[0] >= 0; }
    };
    struct List {
        std::int32_t first = -1, degree = 0, line = -1;
    };
    using Lists = std::vector<List>;

    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    static std::size_t side_of(bool columns) { return columns ? 1 : 0; }
    const Lists &lists_of(Line line) const { return lists_[side_of(line.is_column)]; }
    std::int32_t list_of(Line line) const { return list_of_line_[side_of(line.is_column)][at(line.index)]; }
    void link(std::int32_t e, std::size_t side, std::int32_t list) {
        List &into = lists_[side][at(list)];
        Entry &entry = entries_[at(e)];
        entry.list[side] = list;
        entry.previous[side] = -1;
        entry.next[side] = into.first;
        if (into.first >= 0) entries_[at(into.first)].previous[side] = e;
        into.first = e;
        ++into.degree;
    }
    void unlink(std::int32_t e, std::size_t side) {
        const Entry &entry = entries_[at(e)];
        List &from = lists_[side][at(entry.list[side])];
        const std::int32_t next = entry.next[side], previous = entry.previous[side];
        (previous >= 0 ? entries_[at(previous)].next[side] : from.first) = next;
        if (next >= 0) entries_[at(next)].previous[side] = previous;
        --from.degree;
    }
    void remove(std::int32_t e) {
        for (const std::size_t side : {0u, 1u}) {
            unlink(e, side);
            entries_[at(e)].list[side] = -1;
        }
    }

    // The entry of a list on this side and one across, or -1.
    std::int32_t find(std::size_t side, std::int32_t list, std::int32_t across) {
        if (lists_[1 - side][at(across)].degree <= short_list) return find_in(1 - side, across, list);
        if (lists_[side][at(list)].degree <= short_list) return find_in(side, list, across);
        if (table_.empty()) hash_all();
        return table_[side == 0 ? place_of(list, across) : place_of(across, list)];
    }
    std::int32_t find_in(std::size_t side, std::int32_t list, std::int32_t across) const {
        std::int32_t e = lists_[side][at(list)].first;
        while (e >= 0 && entries_[at(e)].list[1 - side] != across) e = entries_[at(e)].next[side];
        return e;
    }
    // Where the entry of these lists is in the table, or would be.
    std::size_t place_of(std::int32_t row, std::int32_t column) const {
        const std::uint64_t key = static_cast<std::uint64_t>(row) << 32 |
                                  static_cast<std::uint64_t>(static_cast<std::uint32_t>(column));
        const int bits = std::countr_zero(table_.size());
        std::size_t place = (key ^ key >> 32) * 0x9e3779b97f4a7c15u >> (64 - bits);
        for (; table_[place] >= 0; place = (place + 1) & (table_.size() - 1)) {
            const Entry &e = entries_[at(table_[place])];
            if (e.list[0] == row && e.list[1] == column) break;
        }
        return place;
    }
    void put(std::int32_t e) { table_[place_of(entries_[at(e)].list[0], entries_[at(e)].list[1])] = e; }
    void enter(std::int32_t e) { 2 * ++entered_ > table_.size() ? hash_all() : put(e); }
    void hash_all() {
        entered_ =
            at(std::count_if(entries_.begin(), entries_.end(), [](const Entry &e) { return e.is_there(); }));
        const std::size_t places = std::bit_ceil(4 * entered_ + 4);
        table_.clear();
        table_.reserve(places);
        while (table_.size() < places) { // bit by bit: memory that is touched first takes its time
            table_.resize(std::min(places, table_.size() + PolledSteps::between), -1);
            steps_.take(PolledSteps::between);
        }
        for (std::int32_t e = 0; e < std::ssize(entries_); ++e) {
            steps_.take(2);
            if (entries_[at(e)].is_there()) put(e);
        }
    }

    std::vector<Entry> entries_;
    std::array<Lists, 2> lists_;
    std::array<std::vector<std::int32_t>, 2> list_of_line_; // -1: the line is there no longer
    std::vector<std::int32_t> mark_;                        // of a list across: its entry, during a merge
    // Entries by their lists, open addressing; made when it is first needed. What has gone or moved stays in
    // it, and is told from what is sought by its lists.
    std::vector<std::int32_t> table_;
    std::size_t entered_ = 0;
    Crossings crossings_;
    std::vector<Line> changed_;
    PolledSteps steps_;
};

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
    explicit WeightedForest(std::int32_t leaves) : parent_(at(leaves), -1), holders_(at(leaves), 0) {}

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
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
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
    explicit Contraction(BlockOf<Value> block)
        : n_(block.n()),
          lists_(block.pattern),
          factors_{WeightedForest<Value>(n_), WeightedForest<Value>(n_)},
          values_(std::move(block.values)) {
        for (std::vector<std::int32_t> &node : node_of_line_) {
            node.resize(at(n_));
            std::iota(node.begin(), node.end(), 0);
        }
        node_of_entry_.reserve(values_.size());
        for (std::int32_t i = 0; i < n_; ++i)
            for (const std::int32_t j : block.pattern.row(i)) {
                node_of_entry_.push_back({i, j});
                factors_[0].hold(i);
                factors_[1].hold(j);
            }
    }

    bool is_there(Line line) const { return lists_.is_there(line); }
    std::int32_t degree(Line line) const { return lists_.degree(line); }
    std::vector<std::int32_t> crossing(Line line) { // the lines that cross it, ascending
        std::vector<std::int32_t> out;
        for (const auto &[other, entry] : lists_.crossings(line)) out.push_back(other);
        return out;
    }

    // Takes out the line and the one that crosses it at `other`. Their entry is the factor returned.
    Value remove(Line line, std::int32_t other) {
        Value factor = std::move(value(lists_.entry(line, other)));
        drop(line);
        drop({!line.is_column, other});
        return factor;
    }
    // Takes out the line and merges the lines that cross it at `first` and `second` into `first`. Other
    // entries of the line count as 0.
    void contract(Line line, std::int32_t first, std::int32_t second) {
        Value at_first = std::move(value(lists_.entry(line, first)));
        Value at_second = std::move(value(lists_.entry(line, second)));
        drop(line);
        const bool columns = !line.is_column; // are merged
        const std::size_t side = columns ? 1 : 0;
        std::int32_t &node = node_of_line_[side][at(first)];
        node = factors_[side].join(node, std::move(at_second), node_of_line_[side][at(second)],
                                   std::move(at_first));
        lists_.merge(columns, first, second, [this](const EntryLists::Twins &twins) {
            const std::int32_t stays = twins.first_stays ? twins.at_first : twins.at_second;
            const std::int32_t goes = twins.first_stays ? twins.at_second : twins.at_first;
            Value &sum = value(stays);
            add_to(sum, value(goes));
            forget(goes);
        });
    }

    // Lines whose degree has changed since the last call.
    std::vector<Line> take_changed() { return lists_.take_changed(); }
    BlockOf<Value> block() { // what is left, lines in their old order; nothing may follow
        BlockOf<Value> out;
        std::vector<std::int32_t> place(at(n_));
        for (std::int32_t j = 0; j < n_; ++j) place[at(j)] = out.pattern.cols += is_there({true, j});
        for (std::int32_t i = 0; i < n_; ++i) {
            if (!is_there({false, i})) continue;
            for (const auto &[j, entry] : lists_.crossings({false, i})) {
                out.pattern.col.push_back(place[at(j)] - 1);
                out.values.push_back(std::move(value(entry)));
            }
            out.pattern.row_ptr.push_back(static_cast<std::int64_t>(out.pattern.col.size()));
            ++out.pattern.rows;
        }
        return out;
    }

  private:
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    // The entry's value with all factors up to now.
    Value &value(std::int32_t entry) {
        for (const std::size_t side : {0u, 1u})
            factors_[side].raise(node_of_entry_[at(entry)][side], values_[at(entry)]);
        return values_[at(entry)];
    }
    void forget(std::int32_t entry) {
        for (const std::size_t side : {0u, 1u}) factors_[side].release(node_of_entry_[at(entry)][side]);
        values_[at(entry)] = Value();
    }
    void drop(Line line) {
        lists_.drop(line, [this](std::int32_t entry) { forget(entry); });
    }

    std::int32_t n_;
    EntryLists lists_;
    std::array<WeightedForest<Value>, 2> factors_;           // of rows, of columns
    std::array<std::vector<std::int32_t>, 2> node_of_line_;  // in the forest
    std::vector<std::array<std::int32_t, 2>> node_of_entry_; // up to which factors are in its value
    std::vector<Value> values_;
};

} // namespace libperm
