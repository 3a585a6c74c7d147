// The entries of a square pattern as lists by row and by column, out of which lines are taken and in which
// lines are merged: the shorter one's entries into the longer one's list. An entry that is moved finds itself
// in a list at least twice as long, so that all merges together move O(nnz log nnz), however long some lines
// are.
#pragma once

#include "preprocess/limits.hpp"
#include "preprocess/pattern.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace libperm {

struct Line {
    bool is_column = false;
    std::int32_t index = -1;
    friend bool operator==(const Line &, const Line &) = default;
};

class EntryLists {
  public:
    // Entries are numbered as in the pattern, of fewer than 2^31.
    EntryLists(const Pattern &a);

    bool is_there(Line line) const { return list_of(line) >= 0; }
    std::int32_t degree(Line line) const {
        return is_there(line) ? lists_of(line)[at(list_of(line))].degree : 0;
    }
    // Pairs of a crossing line and its entry, ascending.
    using Crossings = std::vector<std::pair<std::int32_t, std::int32_t>>;
    const Crossings &crossings(Line line); // until the next call
    std::int32_t entry(Line line, std::int32_t other) const;

    // `removed` is told each of its entries.
    template <class F> void drop(Line line, const F &removed);

    // Merges `second` into `first`. Of each line that crosses both, `twins` is told the entry at the first
    // and the one at the second, and which of the two stays.
    struct Twins {
        std::int32_t at_first, at_second;
        bool first_stays;
    };
    template <class F> void merge(bool columns, std::int32_t first, std::int32_t second, const F &twins);

    // Lines whose degree has changed since the last call.
    std::vector<Line> take_changed() { return std::exchange(changed_, {}); }

  private:
    struct Entry {
        std::array<std::int32_t, 2> list, next, previous; // by row, by column; list -1: there no longer
    };
    struct List {
        std::int32_t first = -1, degree = 0, line = -1;
    };
    using Lists = std::vector<List>;

    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    static std::size_t side_of(bool columns) { return columns ? 1 : 0; }
    const Lists &lists_of(Line line) const { return lists_[side_of(line.is_column)]; }
    std::int32_t list_of(Line line) const { return list_of_line_[side_of(line.is_column)][at(line.index)]; }

    void link(std::int32_t e, std::size_t side, std::int32_t list);
    void unlink(std::int32_t e, std::size_t side);
    void remove(std::int32_t e);

    // The entry of a list on this side and one across, or -1.
    std::int32_t find(std::size_t side, std::int32_t list, std::int32_t across);
    std::int32_t find_in(std::size_t side, std::int32_t list, std::int32_t across) const;
    std::size_t place_of(std::int32_t row, std::int32_t column) const;
    void enter(std::int32_t e);
    void hash_all();

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

template <class F> void EntryLists::drop(Line line, const F &removed) {
    for (const auto &[other, e] : crossings(line)) {
        changed_.push_back({!line.is_column, other});
        remove(e);
        removed(e);
    }
    list_of_line_[side_of(line.is_column)][at(line.index)] = -1;
}

template <class F>
void EntryLists::merge(bool columns, std::int32_t first, std::int32_t second, const F &twins) {
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

} // namespace libperm
