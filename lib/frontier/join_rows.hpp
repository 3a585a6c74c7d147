// A join of sides that are lists (lib/frontier/sparse_join.hpp): what one thread does of it, in blocks or row
// by row.
#pragma once

#include "jit/lanes/outer_products.hpp"
#include "lib/frontier/join_side.hpp"
#include "lib/number/state_number.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <vector>

namespace libperm {

// Sums of outer products of tables' classes, of all kinds of numbers: those of doubles in vectors
// (jit/lanes/outer_products.hpp), the others one by one in the same order.
template <class Trait> class JoinBlock {
    using Number = typename Trait::Number;
    using Factor = typename Trait::Factor;
    static constexpr bool pairs = std::is_same_v<Number, Signed<number::Real<double>>>;

  public:
    static constexpr bool in_vectors = pairs || std::is_same_v<Number, NonNegative<number::Real<double>>>;

  private:
    using Left = std::conditional_t<in_vectors, double, Number>;
    using Right = std::conditional_t<in_vectors, double, Factor>;

  public:
    void clear() {
        left_.clear();
        right_.clear();
    }
    void reserve(std::size_t products) {
        left_.resize(products);
        right_.resize(products);
    }
    // Product k is of these rows and columns.
    void put(std::size_t k, const Number *rows, const Factor *columns) {
        if constexpr (in_vectors) {
            left_[k] = reinterpret_cast<const double *>(rows);
            right_[k] = reinterpret_cast<const double *>(columns);
        } else {
            left_[k] = rows;
            right_[k] = columns;
        }
    }

    // c[r, v] = sum over products [first, last). Rows of c are as long as the columns, filled up.
    void sum(const Trait &numbers, std::size_t first, std::size_t last, std::size_t rows, std::size_t columns,
             Number *c) const {
        const std::span<const Left *const> left(left_.data() + first, last - first);
        const std::span<const Right *const> right(right_.data() + first, last - first);
        const std::size_t stride = filled_up(columns);
        if constexpr (in_vectors) {
            sum_outer_products({left, right, rows, stride, reinterpret_cast<double *>(c), stride}, pairs);
        } else {
            for (std::size_t v = 0; v < columns; v += outer_columns)
                for (std::size_t r = 0; r < rows; ++r)
                    sum_few(numbers, left, right, r, v, std::min(outer_columns, columns - v),
                            c + r * stride + v);
        }
    }

    // Adds the products of subsets, of tables that begin at a and b, to the matrices at c.
    static double add_subsets(const Trait &numbers, const SubsetProducts &of, const Number *a,
                              const Factor *b, Number *c) {
        if constexpr (in_vectors) {
            SubsetProducts here = of;
            here.a = reinterpret_cast<const double *>(a);
            here.b = reinterpret_cast<const double *>(b);
            here.c = reinterpret_cast<double *>(c);
            return add_subset_products(here, pairs);
        } else {
            std::uint64_t products = 0;
            const std::uint32_t all = (std::uint32_t{1} << of.lines) - 1;
            const SubsetIndex index(of.right);
            for (const SubsetPiece &left : of.left) {
                const std::uint32_t rest = all & ~std::uint32_t{left.subset};
                for (std::uint32_t t = rest;; t = (t - 1) & rest) {
                    if (index.at[t] != SubsetIndex::none) {
                        const SubsetPiece &right = of.right[index.at[t]];
                        const std::size_t matrix = (left.subset | t) * of.kinds + left.kind;
                        add_outer(numbers, {a + left.begin, left.count}, {b + right.begin, right.count},
                                  c + of.c_begin[matrix]);
                        ++of.added[matrix];
                        products += std::uint64_t{left.states} * right.states;
                    }
                    if (t == 0) break;
                }
            }
            return static_cast<double>(products);
        }
    }

  private:
    static constexpr std::size_t filled_up(std::size_t columns) {
        return (columns + outer_columns - 1) / outer_columns * outer_columns;
    }

    static void sum_few(const Trait &numbers, std::span<const Left *const> left,
                        std::span<const Right *const> right, std::size_t row, std::size_t first,
                        std::size_t count, Number *c) {
        std::array<Number, outer_columns> sums;
        sums.fill(Trait::zero());
        const auto add = [&](auto columns) { // of a number that the compiler knows, if it can be
            for (std::size_t k = 0; k < left.size(); ++k) {
                const Number x = left[k][row];
                if (Trait::is_zero(x)) continue;
                for (std::size_t i = 0; i < columns; ++i)
                    sums[i] = numbers.add(sums[i], numbers.multiply(right[k][first + i], x));
            }
        };
        if (count == outer_columns)
            add(std::integral_constant<std::size_t, outer_columns>{});
        else
            add(count);
        std::copy_n(sums.data(), count, c);
    }

    static void add_outer(const Trait &numbers, std::span<const Number> rows, std::span<const Factor> columns,
                          Number *c) {
        const std::size_t stride = filled_up(columns.size());
        for (const Number &x : rows) {
            for (std::size_t v = 0; v < columns.size(); ++v)
                c[v] = numbers.add(c[v], numbers.multiply(columns[v], x));
            c += stride;
        }
    }

    std::vector<const Left *> left_;
    std::vector<const Right *> right_;
};

// What comes to one pattern of the lines that stay, from left own sets [begin, end) in ascending order;
// or, of subsets, to all that agree above their last lines.
struct JoinTask {
    std::uint64_t pattern;
    std::size_t first, last; // pairs; of subsets ranges
    std::size_t begin, end;
};

// What one thread does of a join, and what that comes to.
template <int Words, class Trait> struct JoinChunk {
    using Key = StateKey<Words>;
    using Number = typename Trait::Number;

    struct RowItem {
        std::uint64_t place; // rank, then how manieth of the task
        std::uint32_t right; // group
        std::uint32_t state; // of the left side
    };
    // A matrix for the left own sets of one weight.
    struct Matrix {
        std::size_t first_row = 0, rows = 0; // of the class
        std::size_t columns = 0, first_column = 0;
        std::size_t first_product = 0, products = 0;
        std::size_t cells = 0; // where it begins
    };

    std::vector<GroupPair> pairs;
    std::vector<GroupRanges> ranges;
    std::vector<JoinTask> tasks;
    double planned = 0;  // work
    double products = 0; // that it is to do, or has done
    double additions = 0;
    StateList<Words, Number> list;
    // Used where a pattern is joined row by row.
    std::vector<RowItem> items, sorted;
    std::vector<std::uint32_t> begins;
    Buffer<Number> sums;            // by rank of the right side; 0 between two rows
    std::vector<std::uint32_t> met; // ranks of a row
    // Used where a pattern is joined by blocks or subsets.
    std::vector<Matrix> matrices; // by class of the left own sets
    JoinBlock<Trait> block;
    Buffer<Number> cells;
    std::vector<std::uint32_t> matrix_begin, added;

    explicit JoinChunk(MemoryBudget &memory) : list(memory), sums(memory), cells(memory) {}
};

// Of a result: the pattern of the lines that stay, then the left own set, then 0.
template <int Words>
StateKey<Words> row_key_of(const FrontierJoin &join, std::uint64_t pattern, const StateKey<Words> &left_own) {
    StateKey<Words> key;
    key.word[Words - 1] = pattern;
    return key << (join.alone[0] + join.alone[1]) | left_own << join.alone[1];
}

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
        chunk.list.reserve(chunk.list.size + size_of(group), 4);
        const Number &x = left.values.data()[item.state];
        for (std::size_t k = group.begin; k < group.end; ++k) {
            const Number product = numbers.add(Trait::zero(), numbers.multiply(right.values.data()[k], x));
            chunk.list.keys.data()[chunk.list.size] = row | right.own.data()[right.rank.data()[k]];
            chunk.list.numbers.data()[chunk.list.size] = product;
            chunk.list.size += !Trait::is_zero(product);
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
        chunk.list.reserve(chunk.list.size + std::min<std::size_t>(products, highest - lowest + 1) + 1, 4);
        if (highest - lowest <= 8 * products)
            take_all(chunk, row, lowest, highest);
        else
            take_met(chunk, row, begin, end);
    }

    // Sums that are not 0: what is adds nothing to any that follows.
    void take_all(Chunk &chunk, const Key &row, std::size_t lowest, std::size_t highest) const {
        Number *sums = chunk.sums.data();
        Key *keys = chunk.list.keys.data();
        Number *found = chunk.list.numbers.data();
        std::size_t size = chunk.list.size;
        for (std::size_t r = lowest; r <= highest; ++r) {
            if (Trait::is_zero(sums[r])) continue;
            keys[size] = row | right.own.data()[r];
            found[size++] = std::exchange(sums[r], Trait::zero());
        }
        chunk.list.size = size;
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
