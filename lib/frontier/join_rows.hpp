// A join row by row (lib/frontier/sparse_join.hpp), of sides that are lists.
#pragma once

#include "lib/frontier/join_chunk.hpp"

namespace libperm {

template <int Words, class Trait> struct JoinRows {
    using Key = StateKey<Words>;
    using Number = typename Trait::Number;
    using Factor = typename Trait::Factor;
    using Chunk = JoinChunk<Words, Trait>;

    const FrontierJoin &join;
    const Trait &numbers;
    const JoinSide<Words, Number> &left;
    const JoinSide<Words, Factor> &right;

    void put(Chunk &chunk, const JoinTask &task) const {
        chunk.items.clear();
        const std::uint32_t *rank = left.rank.data();
        const bool all = task.begin == 0 && task.end == left.ranks;
        for (std::size_t p = task.first; p < task.last; ++p) {
            const GroupPair &pair = chunk.pairs[p];
            const PatternGroup &group = left.groups[pair.left];
            const std::uint32_t *state = rank + group.begin, *last = rank + group.end;
            if (!all) {
                state = std::lower_bound(state, last, task.begin);
                last = std::lower_bound(state, last, task.end);
            }
            for (; state != last; ++state)
                chunk.items.push_back({std::uint64_t{*state} << 32 | chunk.items.size(), pair.right,
                                       static_cast<std::uint32_t>(state - rank)});
        }
        if (task.last - task.first > 1) sort_by_rank(chunk);
        for (std::size_t begin = 0, end; begin < chunk.items.size(); begin = end) {
            end = begin + 1;
            const std::uint64_t of_row = chunk.items[begin].place >> 32;
            while (end < chunk.items.size() && chunk.items[end].place >> 32 == of_row) ++end;
            const Key row = row_key_of(join, task.pattern, left.own.data()[of_row]);
            if (end == begin + 1)
                put_product(chunk, row, chunk.items[begin]);
            else
                put_sum(chunk, row, begin, end);
        }
    }

  private:
    static std::size_t size_of(const PatternGroup &g) { return g.end - g.begin; }

    // A row that is a single product.
    void put_product(Chunk &chunk, const Key &row, const typename Chunk::RowItem &item) const {
        const PatternGroup &group = right.groups[item.right];
        chunk.reserve(chunk.size + size_of(group));
        const Number &x = left.values.data()[item.state];
        for (std::size_t k = group.begin; k < group.end; ++k) {
            const Number product = numbers.add(Trait::zero(), numbers.multiply(right.values.data()[k], x));
            chunk.keys.data()[chunk.size] = row | right.own.data()[right.rank.data()[k]];
            chunk.numbers.data()[chunk.size] = product;
            chunk.size += !Trait::is_zero(product);
        }
    }

    // What has the same rank keeps its order.
    void sort_by_rank(Chunk &chunk) const {
        std::vector<typename Chunk::RowItem> &items = chunk.items;
        if (left.ranks > items.size()) {
            std::sort(items.begin(), items.end(),
                      [](const typename Chunk::RowItem &x, const typename Chunk::RowItem &y) {
                          return x.place < y.place;
                      });
            return;
        }
        chunk.begins.assign(left.ranks + 1, 0);
        for (const typename Chunk::RowItem &item : items) ++chunk.begins[(item.place >> 32) + 1];
        std::partial_sum(chunk.begins.begin(), chunk.begins.end(), chunk.begins.begin());
        chunk.sorted.resize(items.size());
        for (const typename Chunk::RowItem &item : items)
            chunk.sorted[chunk.begins[item.place >> 32]++] = item;
        std::swap(items, chunk.sorted);
    }

    void put_sum(Chunk &chunk, const Key &row, std::size_t begin, std::size_t end) const {
        Number *sums = chunk.sums.data();
        const std::uint32_t *rank = right.rank.data();
        const Factor *factors = right.values.data();
        std::size_t products = 0;
        std::uint32_t lowest = ~std::uint32_t{0}, highest = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const PatternGroup &group = right.groups[chunk.items[i].right];
            products += size_of(group);
            lowest = std::min(lowest, rank[group.begin]);
            highest = std::max(highest, rank[group.end - 1]);
            const Number x = left.values.data()[chunk.items[i].state];
            for (std::size_t k = group.begin; k < group.end; ++k)
                sums[rank[k]] = numbers.add(sums[rank[k]], numbers.multiply(factors[k], x));
        }
        chunk.reserve(chunk.size + std::min<std::size_t>(products, highest - lowest + 1) + 1);
        if (highest - lowest <= 8 * products)
            take_all(chunk, row, lowest, highest);
        else
            take_met(chunk, row, begin, end);
    }

    // Sums that are not 0: what is adds nothing to any that follows.
    void take_all(Chunk &chunk, const Key &row, std::size_t lowest, std::size_t highest) const {
        Number *sums = chunk.sums.data();
        Key *keys = chunk.keys.data();
        Number *found = chunk.numbers.data();
        std::size_t size = chunk.size;
        for (std::size_t r = lowest; r <= highest; ++r) {
            if (Trait::is_zero(sums[r])) continue;
            keys[size] = row | right.own.data()[r];
            found[size++] = std::exchange(sums[r], Trait::zero());
        }
        chunk.size = size;
    }
    void take_met(Chunk &chunk, const Key &row, std::size_t begin, std::size_t end) const {
        chunk.met.clear();
        for (std::size_t i = begin; i < end; ++i) {
            const PatternGroup &group = right.groups[chunk.items[i].right];
            chunk.met.insert(chunk.met.end(), right.rank.data() + group.begin, right.rank.data() + group.end);
        }
        std::sort(chunk.met.begin(), chunk.met.end());
        for (const std::uint32_t r : chunk.met) take_all(chunk, row, r, r);
    }
};

} // namespace libperm
