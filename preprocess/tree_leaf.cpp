#include "preprocess/tree_leaf.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <limits>

namespace libperm {
namespace {

using Key = LeafRows::Key;

Key bit_of(int column) { return Key{1} << (31 - column); }
int lowest(Key columns) { return std::countl_zero(columns); }
int highest(Key columns) { return 31 - std::countr_zero(columns); }
Key below(int column) { return ~((bit_of(column) << 1) - 1); } // all lower columns

// Without an instruction for it, counting bits would take a fifth of all the time.
constexpr auto bits_of_byte = [] {
    std::array<std::uint8_t, 256> bits{};
    for (std::size_t k = 0; k < bits.size(); ++k) bits[k] = static_cast<std::uint8_t>(std::popcount(k));
    return bits;
}();
std::uint64_t versions(Key columns) { // of the highest 16 bits, which are all that keys have
    return std::uint64_t{1} << (bits_of_byte[columns >> 24] + bits_of_byte[columns >> 16 & 255]);
}

// Counts what jit/program/tree_program.cpp builds: a value that depends on a set of columns is made once for
// each choice of these.
class LeafCount {
  public:
    // The keys of the rows, ascending: so those that share their columns below any other are side by side,
    // first the one with no more columns, then those whose next one is highest.
    LeafCount(std::span<const Key> rows, int columns, const LeafWork &most) : rows_(rows), most_(most) {
        for (const Key s : rows) {
            operations_ += versions(s) - 1;
            for (Key rest = s; rest != 0; rest &= rest - 1) near_[at(highest(rest))] |= s;
        }
        std::size_t begin = 0;
        for (int c = columns - 1; c >= 0; --c) {
            std::size_t end = begin;
            while (end < rows.size() && lowest(rows[end]) == c) ++end;
            by_lowest_[at(c)] = rows.subspan(begin, end - begin);
            begin = end;
        }
        sum(below(columns - 1) | bit_of(columns - 1));
    }

    LeafWork work() const { return {static_cast<double>(operations_), static_cast<double>(values_)}; }

  private:
    bool is_past_most() const {
        return static_cast<double>(operations_) > most_.operations ||
               static_cast<double>(values_) > most_.values;
    }

    // A value that depends on `own`, taken by one that depends on `all`: it has to be there for as long as
    // the highest column that only the other depends on is out and in.
    void keep(Key own, Key all, std::uint64_t values) {
        const Key only = all & ~own;
        if (only != 0) values_ += values * versions(own & below(highest(only)));
    }

    // Rows that share their columns below `from`: the chain begins with those that change least often.
    // Returns the columns that the product depends on.
    Key product(std::span<const Key> rows, int from) {
        const Key first = rows.front();
        if (rows.size() == 1) return first;
        const Key later = (Key{1} << (32 - from)) - 1; // from > 0
        Key all = 0;
        std::size_t begin = 0;
        if ((first & later) == 0) { // several may be equal
            all = first;
            for (begin = 1; begin < rows.size() && rows[begin] == first; ++begin)
                operations_ += versions(all);
        }
        while (begin < rows.size()) {
            const int column = lowest(rows[begin] & later);
            std::size_t end = begin + 1;
            while (end < rows.size() && lowest(rows[end] & later) == column) ++end;
            const Key columns = product(rows.subspan(begin, end - begin), column + 1);
            const Key before = all;
            all |= columns;
            if (before != 0) {
                operations_ += versions(all);
                keep(before, all, 1);
                keep(columns, all, 1);
            }
            begin = end;
        }
        return all;
    }

    Key component(Key columns) const {
        Key found = bit_of(lowest(columns));
        for (Key fresh = found; fresh != 0;) {
            Key met = 0;
            for (; fresh != 0; fresh &= fresh - 1) met |= near_[at(highest(fresh))];
            fresh = met & columns & ~found;
            found |= fresh;
        }
        return found;
    }

    // The product over the parts that `columns` fall into; returns what it depends on, these included. With
    // every sum of terms goes that of their absolute values.
    Key sum(Key columns) {
        Key all = 0, others = 0;
        while (columns != 0 && !is_past_most()) {
            const Key part = component(columns);
            columns &= ~part;
            const Key before = all & ~others, own = sum_part(part) & ~part;
            all |= own | part;
            if (others != 0) {
                operations_ += 2 * versions(all & ~(others | part));
                keep(before, all & ~(others | part), 2);
                keep(own, all & ~(others | part), 2);
            }
            others |= part;
        }
        return all;
    }

    Key sum_part(Key columns) {
        const int c = highest(columns);
        const Key bit = bit_of(c), rest = columns & ~bit;
        const auto rows = by_lowest_[at(c)];
        Key of_product = bit, of_rest = bit;
        if (!rows.empty()) of_product |= product(rows, c + 1);
        const bool parted = rest != 0 && component(rest) != rest;
        if (rest != 0) of_rest |= sum(rest) & ~rest;
        const Key all = of_product | of_rest;
        if (!rows.empty()) keep(of_product, all, 1);
        if (rest != 0) keep(of_rest, all, 2);
        const std::uint64_t times = versions(all & ~columns);
        if (rows.empty())
            operations_ += parted ? 0 : 2 * times; // the last product of the parts is in the difference
        else
            operations_ += (rest == 0 ? 2 : 4) * times;
        return all | columns;
    }

    const std::span<const Key> rows_;
    const LeafWork &most_;
    std::array<Key, LeafRows::most_columns> near_{};                     // that share a row with it
    std::array<std::span<const Key>, LeafRows::most_columns> by_lowest_; // rows
    std::uint64_t operations_ = 0, values_ = 0;
};

} // namespace

LeafRows::LeafRows(std::span<const LineSet> columns) {
    std::array<Key, 64> of_row{};
    LineSet rows = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        std::uint64_t sums = 0;
        for_each(columns[c], [&](int i) {
            sums += versions(of_row[at(i)]);
            of_row[at(i)] |= bit_of(static_cast<int>(c));
        });
        row_sums_[c + 1] = row_sums_[c] + static_cast<double>(sums);
        rows |= columns[c];
    }
    for_each(rows, [&](int i) { keys_[count_++] = of_row[at(i)]; });
    std::sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(count_));
}

LeafWork LeafRows::work(int count, const LeafWork &most) const {
    if (count == 0) return {};
    // Cut off at a column, the keys are still in order; first those of which nothing is left.
    std::array<Key, 64> keys;
    std::size_t left = 0;
    const Key kept = below(count - 1) | bit_of(count - 1);
    for (std::size_t k = 0; k < count_; ++k)
        if ((keys_[k] & kept) != 0) keys[left++] = keys_[k] & kept;
    return LeafCount(std::span(keys).first(left), count, most).work();
}

LeafWork leaf_work(const std::vector<LineSet> &columns) {
    constexpr double any = std::numeric_limits<double>::infinity();
    return LeafRows(columns).work(static_cast<int>(columns.size()), {any, any});
}

} // namespace libperm
