// The moves of a join: which states of two lists go together, and what they come to
// (preprocess/frontier_program.hpp).
#pragma once

#include "jit/program/tape.hpp"
#include "lib/frontier/sparse_join.hpp"
#include "preprocess/poll.hpp"

#include <algorithm>
#include <vector>

namespace libperm {

// A list of states while a tape is made.
template <int Words> struct ListOfStates {
    using Key = StateKey<Words>;
    struct Move {
        std::uint32_t target, source, entry;
    };

    TapeList from;
    std::vector<Key> keys;
    std::vector<Move> moves;
    std::uint32_t states = 0; // that are left
    std::int32_t next = -1;   // the list that they lead to
};

// One side of a join: states by the pattern of the lines that both have, and by what they have alone.
template <int Words> class TapeJoinSide {
    using Key = StateKey<Words>;

  public:
    TapeJoinSide(const std::vector<Key> &keys, const FrontierJoin &join, std::size_t side,
                 PolledSteps &steps) {
        const std::int32_t alone_bits = join.alone[side], shared = join.closing + join.staying;
        Key mask = Key::slots_from(alone_bits);
        for (std::uint64_t &word : mask.word) word = ~word;
        std::vector<Item> items;
        items.reserve(keys.size());
        for (std::size_t k = 0; k < keys.size(); ++k)
            items.push_back({rearranged(keys[k], join.runs[side]), static_cast<std::uint32_t>(k)});
        std::sort(items.begin(), items.end(), [&steps](const Item &x, const Item &y) {
            steps.take(of_a_comparison);
            return x.key < y.key;
        });
        for (const Item &item : items) {
            state.push_back(item.state);
            alone.push_back(item.key & mask);
            const std::uint64_t pattern = bits_of(item.key, alone_bits, shared);
            if (groups.empty() || groups.back().pattern != pattern)
                groups.push_back({pattern, state.size() - 1, state.size(), 0});
            groups.back().end = state.size();
            ++groups.back().states;
        }
        find_ranks(steps);
    }

    std::vector<std::uint32_t> state, rank; // by pattern, then by what they have alone; its place in `sets`
    std::vector<Key> sets;                  // of lines that some state has alone, ascending
    PatternGroups groups;

  private:
    struct Item {
        Key key;
        std::uint32_t state;
    };

    void find_ranks(PolledSteps &steps) {
        sets = alone;
        std::sort(sets.begin(), sets.end(), [&steps](const Key &x, const Key &y) {
            steps.take(of_a_comparison);
            return x < y;
        });
        sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
        rank.reserve(alone.size());
        for (const Key &key : alone) {
            steps.take(of_a_comparison * std::bit_width(sets.size()));
            const auto place = std::lower_bound(sets.begin(), sets.end(), key);
            rank.push_back(static_cast<std::uint32_t>(place - sets.begin()));
        }
        alone = {};
    }

    static constexpr std::int64_t of_a_comparison = 4; // steps

    std::vector<Key> alone;
};

// Row by row, as numbers are joined: the states of a row agree in the lines that stay, and in what the left
// side has alone. Keys ascend.
template <int Words> class TapeJoin {
    using List = ListOfStates<Words>;
    using Key = StateKey<Words>;

  public:
    TapeJoin(const FrontierJoin &join, const List &left, const List &right, PolledSteps &steps)
        : steps_(steps),
          join_(join),
          left_(left.keys, join, 0, steps_),
          right_(right.keys, join, 1, steps_),
          number_(right_.sets.size(), none) {}

    // False if there are more than `most` moves.
    bool run(std::int64_t most, List &to) {
        JoinOrder order;
        order.begin(left_.groups, right_.groups, join_.closing, join_.staying, false);
        std::uint64_t pattern = 0;
        std::vector<GroupPair> pairs;
        while (order.next(pattern, pairs)) {
            std::int64_t products = 0;
            for (const GroupPair &p : pairs)
                products += size_of(left_.groups[p.left]) * size_of(right_.groups[p.right]);
            steps_.take(64);
            if (products > most - std::ssize(to.moves)) return false;
            add_rows(pattern, pairs, to);
        }
        return true;
    }

  private:
    struct RowItem {
        std::uint32_t rank, left; // of the left state, and its place
        std::uint32_t right;      // group
    };
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    static std::int64_t size_of(const PatternGroup &g) { return static_cast<std::int64_t>(g.end - g.begin); }

    void add_rows(std::uint64_t pattern, const std::vector<GroupPair> &pairs, List &to) {
        items_.clear();
        for (const GroupPair &p : pairs)
            for (std::size_t k = left_.groups[p.left].begin; k < left_.groups[p.left].end; ++k)
                items_.push_back({left_.rank[k], static_cast<std::uint32_t>(k), p.right});
        std::stable_sort(items_.begin(), items_.end(),
                         [](const RowItem &x, const RowItem &y) { return x.rank < y.rank; });
        Key above;
        above.word[Words - 1] = pattern;
        above = above << (join_.alone[0] + join_.alone[1]);
        for (std::size_t begin = 0, end = 0; begin < items_.size(); begin = end) {
            while (end < items_.size() && items_[end].rank == items_[begin].rank) ++end;
            add_row(above | left_.sets[items_[begin].rank] << join_.alone[1], begin, end, to);
        }
    }

    void add_row(const Key &row, std::size_t begin, std::size_t end, List &to) {
        const auto before = std::ssize(to.moves);
        met_.clear();
        for_each(begin, end, [&](const RowItem &, std::size_t k) {
            std::uint32_t &number = number_[right_.rank[k]];
            if (number == none) met_.push_back(right_.rank[k]);
            number = 0;
        });
        std::sort(met_.begin(), met_.end());
        for (const std::uint32_t rank : met_) {
            number_[rank] = static_cast<std::uint32_t>(to.keys.size());
            to.keys.push_back(row | right_.sets[rank]);
        }
        for_each(begin, end, [&](const RowItem &item, std::size_t k) {
            to.moves.push_back({number_[right_.rank[k]], left_.state[item.left], right_.state[k]});
        });
        for (const std::uint32_t rank : met_) number_[rank] = none;
        steps_.take(8 * std::ssize(met_) + 4 * (std::ssize(to.moves) - before));
    }

    template <class Work> void for_each(std::size_t begin, std::size_t end, const Work &work) const {
        for (std::size_t i = begin; i < end; ++i) {
            const PatternGroup &group = right_.groups[items_[i].right];
            for (std::size_t k = group.begin; k < group.end; ++k) work(items_[i], k);
        }
    }

    PolledSteps &steps_;
    const FrontierJoin &join_;
    const TapeJoinSide<Words> left_, right_;
    std::vector<RowItem> items_;
    std::vector<std::uint32_t> met_, number_; // ranks of a row; of each rank in it the state
};

} // namespace libperm
