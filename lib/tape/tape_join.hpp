// The moves of a join: which states of two lists go together, and what they come to
// (preprocess/frontier_program.hpp).
#pragma once

#include "jit/program/tape.hpp"
#include "lib/frontier/join_rows.hpp"
#include "lib/run/memory_budget.hpp"
#include "preprocess/poll.hpp"

#include <algorithm>
#include <limits>
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

// Row by row, as numbers are joined: the states of a row agree in the lines that stay, and in what the left
// side has alone. Keys ascend.
template <int Words> class TapeJoin {
    using List = ListOfStates<Words>;
    using Key = StateKey<Words>;

  public:
    TapeJoin(const FrontierJoin &join, const List &left, const List &right, PolledSteps &steps)
        : steps_(steps),
          join_(join),
          memory_(std::numeric_limits<std::int64_t>::max()), // what a tape may take is said in moves
          room_(memory_),
          left_(memory_, room_, false),
          right_(memory_, room_, false) {
        list(left_, left.keys, 0);
        list(right_, right.keys, 1);
        number_.assign(right_.ranks, none);
    }

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
    using Side = JoinSide<Words, std::uint32_t>; // with the states' places as their values

    void list(Side &side, const std::vector<Key> &keys, std::size_t which) {
        steps_.take(64 * std::ssize(keys));
        const JoinLines lines{join_.runs[which], join_.rows[which], join_.alone[which],
                              join_.closing + join_.staying};
        side.begin(keys.data(), keys.size(), lines);
        side.fill_list([](std::size_t k) { return static_cast<std::uint32_t>(k); });
    }

    static std::int64_t size_of(const PatternGroup &g) { return static_cast<std::int64_t>(g.end - g.begin); }

    void add_rows(std::uint64_t pattern, const std::vector<GroupPair> &pairs, List &to) {
        items_.clear();
        for (const GroupPair &p : pairs)
            for (std::size_t k = left_.groups[p.left].begin; k < left_.groups[p.left].end; ++k)
                items_.push_back({left_.rank.data()[k], static_cast<std::uint32_t>(k), p.right});
        std::stable_sort(items_.begin(), items_.end(),
                         [](const RowItem &x, const RowItem &y) { return x.rank < y.rank; });
        for (std::size_t begin = 0, end = 0; begin < items_.size(); begin = end) {
            while (end < items_.size() && items_[end].rank == items_[begin].rank) ++end;
            add_row(row_key_of(join_, pattern, left_.own.data()[items_[begin].rank]), begin, end, to);
        }
    }

    void add_row(const Key &row, std::size_t begin, std::size_t end, List &to) {
        const auto before = std::ssize(to.moves);
        met_.clear();
        for_each(begin, end, [&](const RowItem &, std::size_t k) {
            std::uint32_t &number = number_[right_.rank.data()[k]];
            if (number == none) met_.push_back(right_.rank.data()[k]);
            number = 0;
        });
        std::sort(met_.begin(), met_.end());
        for (const std::uint32_t rank : met_) {
            number_[rank] = static_cast<std::uint32_t>(to.keys.size());
            to.keys.push_back(row | right_.own.data()[rank]);
        }
        for_each(begin, end, [&](const RowItem &item, std::size_t k) {
            to.moves.push_back(
                {number_[right_.rank.data()[k]], left_.values.data()[item.left], right_.values.data()[k]});
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
    MemoryBudget memory_;
    JoinRoom<Words> room_;
    Side left_, right_;
    std::vector<RowItem> items_;
    std::vector<std::uint32_t> met_, number_; // ranks of a row; of each rank in it the state
};

} // namespace libperm
