// A part of a join: what one thread does of it, and what that comes to.
#pragma once

#include "lib/frontier/join_block.hpp"
#include "lib/frontier/join_side.hpp"

namespace libperm {

// What comes to one pattern of the lines that stay, from left own sets [begin, end) in ascending order;
// or, of subsets, to all that agree above their last lines.
struct JoinTask {
    std::uint64_t pattern;
    std::size_t first, last; // pairs; of subsets ranges
    std::size_t begin, end;
};

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
    Buffer<Key> keys;
    Buffer<Number> numbers;
    std::size_t size = 0;
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

    explicit JoinChunk(MemoryBudget &memory) : keys(memory), numbers(memory), sums(memory), cells(memory) {}
    void reserve(std::size_t count) { // one may have been given back without the other
        if (count > keys.capacity()) keys.grow(count + count / 4);
        if (count > numbers.capacity()) numbers.grow(count + count / 4);
    }
};

template <int Words> StateKey<Words> shifted(const StateKey<Words> &key, std::int32_t by) {
    StateKey<Words> to;
    const std::size_t words = static_cast<std::size_t>(by / 64);
    for (std::size_t w = 0; w + words < Words; ++w) {
        to.word[w] = key.word[w + words] << by % 64;
        if (by % 64 != 0 && w + words + 1 < Words) to.word[w] |= key.word[w + words + 1] >> (64 - by % 64);
    }
    return to;
}

// Of a result: the pattern of the lines that stay, then the left own set, then 0.
template <int Words>
StateKey<Words> row_key_of(const FrontierJoin &join, std::uint64_t pattern, const StateKey<Words> &left_own) {
    StateKey<Words> key;
    key.word[Words - 1] = pattern;
    return shifted(key, join.alone[0] + join.alone[1]) | shifted(left_own, join.alone[1]);
}

} // namespace libperm
