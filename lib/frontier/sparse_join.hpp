// Joins of two lists of states (preprocess/frontier_program.hpp).
//
// For each pattern of the lines that stay lib/frontier/join_order.hpp tells which groups of states meet;
// what they come to is a sum of outer products, done row by row: a row holds the states of the left side that
// agree in what they have alone, and adds up their products with the right side in a table by what that has
// alone (the sparse matrix product of Gustavson, ACM Trans. Math. Softw. 4 (1978)). Rows are independent of
// each other, and their sums go by the order of the groups: no thread and no chunk changes a bit.
#pragma once

#include "lib/frontier/join_order.hpp"
#include "lib/frontier/sparse.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <deque>
#include <numeric>
#include <optional>

namespace libperm {

// Bits of a key that move together.
template <int Words> StateKey<Words> rearranged(const StateKey<Words> &key, const std::vector<BitRun> &runs) {
    StateKey<Words> to;
    for (const BitRun &run : runs) {
        const std::uint64_t mask = run.width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << run.width) - 1;
        to.word[to.word_of(run.to)] |= (key.word[key.word_of(run.from)] >> run.from % 64 & mask)
                                       << run.to % 64;
    }
    return to;
}

// `width` bits of it from `first` on, at most 64.
template <int Words>
std::uint64_t bits_of(const StateKey<Words> &key, std::int32_t first, std::int32_t width) {
    if (width == 0) return 0;
    const std::size_t w = key.word_of(first);
    std::uint64_t bits = key.word[w] >> first % 64;
    if (w > 0 && first % 64 != 0) bits |= key.word[w - 1] << (64 - first % 64);
    return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

// A state that is being sorted.
template <int Words> struct JoinItem {
    StateKey<Words> key;
    std::uint32_t place, rank;
};

// What sorting a side takes, for one join after the other.
template <int Words> struct JoinRoom {
    Buffer<JoinItem<Words>> items, spare;
    std::vector<std::uint64_t> marks;  // of sets that are there
    std::vector<std::uint32_t> before; // so many, in the words below

    explicit JoinRoom(MemoryBudget &memory) : items(memory), spare(memory) {}
};

// One side of a join: its states by the pattern of the shared lines, and what they have alone by rank.
template <int Words, class Value> class JoinSide {
    using Key = StateKey<Words>;
    using Item = JoinItem<Words>;

  public:
    JoinSide(MemoryBudget &memory, JoinRoom<Words> &room)
        : values(memory), rank(memory), alone(memory), room_(room) {}

    Buffer<Value> values;       // by pattern, then by what they have alone, ascending
    Buffer<std::uint32_t> rank; // of each: the place in `alone` of what it has alone
    Buffer<Key> alone;          // ascending, none twice
    std::size_t ranks = 0;
    PatternGroups groups;

    // Of an ascending list; value_of(k): of state k as it stands there.
    template <class ValueOf>
    void fill(const Key *keys, std::size_t count, const std::vector<BitRun> &runs, std::int32_t alone_bits,
              std::int32_t shared_bits, const ValueOf &value_of) {
        if (count >> 32 != 0)
            throw Error(PERM_REFUSED_MEMORY, "engine frontier: a join of more than 2^32 states");
        room_.items.grow(count);
        room_.spare.grow(count);
        for (std::size_t k = 0; k < count; ++k)
            room_.items.data()[k] = {rearranged(keys[k], runs), static_cast<std::uint32_t>(k), 0};
        if (alone_bits <= 20 || (alone_bits <= 26 && count >> (alone_bits - 6) != 0))
            rank_by_marks(count, alone_bits);
        else
            rank_by_sorting(count, alone_bits);
        sort_by(count, alone_bits, shared_bits); // the states of a pattern keep their order
        values.grow(count);
        rank.grow(count);
        for (std::size_t k = 0; k < count; ++k) {
            const Item &item = room_.items.data()[k];
            values.data()[k] = value_of(item.place);
            rank.data()[k] = item.rank;
            const std::uint64_t pattern = bits_of(item.key, alone_bits, shared_bits);
            if (groups.empty() || groups.back().pattern != pattern) groups.push_back({pattern, k, k});
            groups.back().end = k + 1;
        }
    }

  private:
    void rank_by_marks(std::size_t count, std::int32_t bits) {
        std::vector<std::uint64_t> &marks = room_.marks;
        marks.assign(((std::size_t{1} << bits) + 63) / 64, 0);
        Item *items = room_.items.data();
        for (std::size_t k = 0; k < count; ++k) {
            const std::uint64_t own = bits_of(items[k].key, 0, bits);
            marks[own / 64] |= std::uint64_t{1} << own % 64;
        }
        room_.before.resize(marks.size());
        ranks = 0;
        for (std::size_t w = 0; w < marks.size(); ++w) {
            room_.before[w] = static_cast<std::uint32_t>(ranks);
            ranks += static_cast<std::size_t>(std::popcount(marks[w]));
        }
        alone.grow(ranks);
        std::size_t next = 0;
        for (std::size_t w = 0; w < marks.size(); ++w)
            for (std::uint64_t word = marks[w]; word != 0; word &= word - 1) {
                Key &key = alone.data()[next++] = Key{};
                key.word[Words - 1] = 64 * w + static_cast<std::size_t>(std::countr_zero(word));
            }
        for (std::size_t k = 0; k < count; ++k) {
            const std::uint64_t own = bits_of(items[k].key, 0, bits);
            const std::uint64_t below = marks[own / 64] & ((std::uint64_t{1} << own % 64) - 1);
            items[k].rank = room_.before[own / 64] + static_cast<std::uint32_t>(std::popcount(below));
        }
    }

    void rank_by_sorting(std::size_t count, std::int32_t bits) {
        sort_by(count, 0, bits);
        Key mask = Key::slots_from(bits);
        for (std::uint64_t &word : mask.word) word = ~word;
        ranks = 0;
        alone.grow(count);
        for (std::size_t k = 0; k < count; ++k) {
            const Key own = room_.items.data()[k].key & mask;
            if (ranks == 0 || alone.data()[ranks - 1] != own) alone.data()[ranks++] = own;
            room_.items.data()[k].rank = static_cast<std::uint32_t>(ranks - 1);
        }
    }

    // By so many bits; what agrees in them keeps its order. From the lowest digit up.
    void sort_by(std::size_t count, std::int32_t first, std::int32_t bits) {
        const int digit = count < 4096 ? 6 : 11;
        std::array<std::uint32_t, 2048> begin;
        for (std::int32_t done = 0; done < bits; done += digit) {
            const std::int32_t width = std::min(digit, bits - done);
            const auto digit_of = [&](const Item &item) { return bits_of(item.key, first + done, width); };
            std::fill_n(begin.begin(), std::size_t{1} << width, 0);
            const Item *items = room_.items.data();
            for (std::size_t k = 0; k < count; ++k) ++begin[digit_of(items[k])];
            std::exclusive_scan(begin.begin(), begin.begin() + (1 << width), begin.begin(), std::uint32_t{0});
            Item *spare = room_.spare.data();
            for (std::size_t k = 0; k < count; ++k) spare[begin[digit_of(items[k])]++] = items[k];
            std::swap(room_.items, room_.spare);
        }
    }

    JoinRoom<Words> &room_;
};

template <int Words, class Trait> class SparseJoin {
    using Key = StateKey<Words>;
    using Number = typename Trait::Number;
    using Factor = typename Trait::Factor;
    using List = StateList<Words, Number>;

    static constexpr double chunk_products = 0x1p17;

  public:
    SparseJoin(const FrontierWork &work, const FrontierJoin &join, JoinRoom<Words> &room)
        : work_(work), join_(join), left_(work.memory, room), right_(work.memory, room) {}

    // Of a left list, and a right one, which are given up, with their books; the join's are the left one's.
    List run(List left, Trait &numbers, List right, const Trait &right_numbers, Counts &counts) {
        const auto scales = numbers.begin_join(right_numbers, static_cast<double>(left.size),
                                               static_cast<double>(right.size));
        numbers_ = &numbers;
        const std::int32_t shared = join_.closing + join_.staying;
        left_.fill(left.keys.data(), left.size, join_.runs[0], join_.alone[0], shared,
                   [&](std::size_t k) { return Trait::scaled(left.numbers.data()[k], scales.of_this); });
        free(left);
        right_.fill(right.keys.data(), right.size, join_.runs[1], join_.alone[1], shared, [&](std::size_t k) {
            return numbers.factor_of(right.numbers.data()[k], scales.of_other);
        });
        free(right);
        list_.emplace(work_.memory);
        multiply_all();
        numbers.end_step(additions_, products_, extent_);
        counts.operations += products_;
        counts.states += static_cast<double>(list_->size);
        counts.peak_states = std::max(counts.peak_states, static_cast<double>(list_->size));
        return std::move(*list_);
    }

  private:
    // Rows of one pattern of the lines that stay: ranks [begin, end) of the left side.
    struct Task {
        std::uint64_t pattern;
        std::size_t first_pair, last_pair, begin, end;
    };
    struct RowItem {
        std::uint64_t place; // rank, then how manieth of the task
        std::uint32_t right; // group
        std::uint32_t state; // of the left side
    };
    struct Chunk {
        std::vector<GroupPair> pairs;
        std::vector<Task> tasks;
        double planned = 0; // products, at most
        Buffer<Key> keys;
        Buffer<Number> numbers;
        std::size_t size = 0;
        std::vector<RowItem> items, sorted;
        std::vector<std::uint32_t> begins;
        Buffer<Number> sums;            // by rank of the right side; 0 between two rows
        std::vector<std::uint32_t> met; // ranks of a row
        double products = 0, additions = 0;

        explicit Chunk(MemoryBudget &memory) : keys(memory), numbers(memory), sums(memory) {}
        void reserve(std::size_t count) {
            if (count <= keys.capacity()) return;
            keys.grow(count + count / 4);
            numbers.grow(count + count / 4);
        }
    };

    static void free(List &list) {
        list.keys.release();
        list.numbers.release();
        list.size = 0;
    }

    void multiply_all() {
        JoinOrder order(left_.groups, right_.groups, join_.closing, join_.staying);
        const auto next = [&](Chunk &chunk) { return plan_chunk(chunk, order); };
        const bool serial = join_.products_bound <= static_cast<double>(serial_candidates);
        const std::size_t in_flight =
            serial ? 1 : std::min(chunks_in_flight, 2 * static_cast<std::size_t>(work_.threads));
        std::deque<Chunk> pool;
        while (pool.size() < in_flight) pool.emplace_back(work_.memory);
        if (serial) {
            while (next(pool.front())) {
                multiply(pool.front());
                append(pool.front());
            }
            return;
        }
        std::size_t made = 0;
        parallel_pipeline<Chunk>(
            in_flight,
            [&]() -> Chunk * {
                Chunk &chunk = pool[made++ % in_flight]; // free again: chunks retire in order
                return next(chunk) ? &chunk : nullptr;
            },
            [this](Chunk &chunk) { multiply(chunk); }, [this](Chunk &chunk) { append(chunk); });
    }

    std::size_t size_of(const PatternGroup &g) const { return g.end - g.begin; }

    // Patterns until there is enough to do. One of many products is shared out by ranks.
    bool plan_chunk(Chunk &chunk, JoinOrder &order) {
        chunk.pairs.clear();
        chunk.tasks.clear();
        chunk.planned = 0;
        while (chunk.planned < chunk_products) {
            if (next_rank_ == left_.ranks || rest_.empty()) {
                if (!order.next(pattern_, rest_)) break;
                next_rank_ = 0;
                products_of_rest_ = 0;
                for (const GroupPair &p : rest_)
                    products_of_rest_ += static_cast<double>(size_of(left_.groups[p.left])) *
                                         static_cast<double>(size_of(right_.groups[p.right]));
            }
            const double shares = std::max(1.0, std::ceil(products_of_rest_ / chunk_products));
            const auto ranks = static_cast<std::size_t>(std::ceil(static_cast<double>(left_.ranks) / shares));
            const std::size_t end = std::min(left_.ranks, next_rank_ + ranks);
            const std::size_t first = chunk.pairs.size();
            chunk.pairs.insert(chunk.pairs.end(), rest_.begin(), rest_.end());
            chunk.tasks.push_back({pattern_, first, chunk.pairs.size(), next_rank_, end});
            chunk.planned += products_of_rest_ / shares + static_cast<double>(rest_.size());
            next_rank_ = end;
        }
        return !chunk.tasks.empty();
    }

    void multiply(Chunk &chunk) const {
        chunk.size = 0;
        chunk.products = chunk.additions = 0;
        if (chunk.sums.capacity() < right_.ranks) {
            chunk.sums.grow(right_.ranks);
            std::fill_n(chunk.sums.data(), right_.ranks, Trait::zero());
        }
        const auto work = [&] {
            for (const Task &task : chunk.tasks) multiply(chunk, task);
        };
        if constexpr (Trait::uses_fma)
            with_fma(work);
        else
            work();
    }

    void multiply(Chunk &chunk, const Task &task) const {
        chunk.items.clear();
        const std::uint32_t *rank = left_.rank.data();
        const bool all = task.begin == 0 && task.end == left_.ranks;
        for (std::size_t p = task.first_pair; p < task.last_pair; ++p) {
            const GroupPair &pair = chunk.pairs[p];
            const PatternGroup &group = left_.groups[pair.left];
            const std::uint32_t *state = rank + group.begin, *last = rank + group.end;
            if (!all) {
                state = std::lower_bound(state, last, task.begin);
                last = std::lower_bound(state, last, task.end);
            }
            for (; state != last; ++state)
                chunk.items.push_back({std::uint64_t{*state} << 32 | chunk.items.size(), pair.right,
                                       static_cast<std::uint32_t>(state - rank)});
        }
        if (task.last_pair - task.first_pair > 1) sort_by_rank(chunk);
        const Key above = shifted(task.pattern, join_.alone[0] + join_.alone[1]);
        for (std::size_t begin = 0, end; begin < chunk.items.size(); begin = end) {
            end = begin + 1;
            const std::uint64_t of_row = chunk.items[begin].place >> 32;
            while (end < chunk.items.size() && chunk.items[end].place >> 32 == of_row) ++end;
            const Key row = above | shifted(left_.alone.data()[of_row], join_.alone[1]);
            if (end == begin + 1)
                put_product(chunk, row, chunk.items[begin]);
            else
                put_sum(chunk, row, begin, end);
        }
    }

    // A row that is a single product.
    void put_product(Chunk &chunk, const Key &row, const RowItem &item) const {
        const PatternGroup &group = right_.groups[item.right];
        chunk.reserve(chunk.size + size_of(group));
        const Number &x = left_.values.data()[item.state];
        for (std::size_t k = group.begin; k < group.end; ++k) {
            chunk.keys.data()[chunk.size] = row | right_.alone.data()[right_.rank.data()[k]];
            chunk.numbers.data()[chunk.size] = numbers_->multiply(right_.values.data()[k], x);
            chunk.size += !Trait::is_zero(chunk.numbers.data()[chunk.size]);
        }
        chunk.products += static_cast<double>(size_of(group));
    }

    // What has the same rank keeps its order.
    void sort_by_rank(Chunk &chunk) const {
        std::vector<RowItem> &items = chunk.items;
        if (left_.ranks > items.size()) {
            std::sort(items.begin(), items.end(),
                      [](const RowItem &x, const RowItem &y) { return x.place < y.place; });
            return;
        }
        chunk.begins.assign(left_.ranks + 1, 0);
        for (const RowItem &item : items) ++chunk.begins[(item.place >> 32) + 1];
        std::partial_sum(chunk.begins.begin(), chunk.begins.end(), chunk.begins.begin());
        chunk.sorted.resize(items.size());
        for (const RowItem &item : items) chunk.sorted[chunk.begins[item.place >> 32]++] = item;
        std::swap(items, chunk.sorted);
    }

    void put_sum(Chunk &chunk, const Key &row, std::size_t begin, std::size_t end) const {
        Number *sums = chunk.sums.data();
        const std::uint32_t *rank = right_.rank.data();
        const Factor *factors = right_.values.data();
        std::size_t products = 0;
        std::uint32_t lowest = ~std::uint32_t{0}, highest = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const PatternGroup &group = right_.groups[chunk.items[i].right];
            products += size_of(group);
            lowest = std::min(lowest, rank[group.begin]);
            highest = std::max(highest, rank[group.end - 1]);
            const Number x = left_.values.data()[chunk.items[i].state];
            for (std::size_t k = group.begin; k < group.end; ++k)
                sums[rank[k]] = numbers_->add(sums[rank[k]], numbers_->multiply(factors[k], x));
        }
        chunk.products += static_cast<double>(products);
        chunk.additions = std::max(chunk.additions, static_cast<double>(end - begin - 1));
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
        Number *numbers = chunk.numbers.data();
        std::size_t size = chunk.size;
        for (std::size_t r = lowest; r <= highest; ++r) {
            if (Trait::is_zero(sums[r])) continue;
            keys[size] = row | right_.alone.data()[r];
            numbers[size++] = std::exchange(sums[r], Trait::zero());
        }
        chunk.size = size;
    }
    void take_met(Chunk &chunk, const Key &row, std::size_t begin, std::size_t end) const {
        chunk.met.clear();
        for (std::size_t i = begin; i < end; ++i) {
            const PatternGroup &group = right_.groups[chunk.items[i].right];
            chunk.met.insert(chunk.met.end(), right_.rank.data() + group.begin,
                             right_.rank.data() + group.end);
        }
        std::sort(chunk.met.begin(), chunk.met.end());
        for (const std::uint32_t r : chunk.met) take_all(chunk, row, r, r);
    }

    static Key shifted(std::uint64_t bits, std::int32_t by) {
        Key key;
        key.word[Words - 1] = bits;
        return shifted(key, by);
    }
    static Key shifted(const Key &key, std::int32_t by) {
        Key to;
        const std::size_t words = static_cast<std::size_t>(by / 64);
        for (std::size_t w = 0; w + words < Words; ++w) {
            to.word[w] = key.word[w + words] << by % 64;
            if (by % 64 != 0 && w + words + 1 < Words)
                to.word[w] |= key.word[w + words + 1] >> (64 - by % 64);
        }
        return to;
    }

    void append(const Chunk &chunk) {
        List &list = *list_;
        list.reserve(list.size + chunk.size);
        std::copy_n(chunk.keys.data(), chunk.size, list.keys.data() + list.size);
        std::copy_n(chunk.numbers.data(), chunk.size, list.numbers.data() + list.size);
        extent_ = join(extent_, Trait::extent_of(chunk.numbers.data(), chunk.size));
        list.size += chunk.size;
        products_ += chunk.products;
        additions_ = std::max(additions_, chunk.additions);
        work_.control.advance(chunk.products);
    }

    const FrontierWork work_;
    const FrontierJoin &join_;
    const Trait *numbers_ = nullptr;
    JoinSide<Words, Number> left_;
    JoinSide<Words, Factor> right_;
    std::optional<List> list_;
    Extent extent_;
    double products_ = 0, additions_ = 0;
    // Of the pattern in hand: its pairs, and the ranks that are given out.
    std::uint64_t pattern_ = 0;
    std::vector<GroupPair> rest_;
    std::size_t next_rank_ = 0;
    double products_of_rest_ = 0;
};

} // namespace libperm
