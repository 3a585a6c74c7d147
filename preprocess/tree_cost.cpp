#include "preprocess/tree_cost.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace libperm {
namespace {

using Key = std::uint32_t; // the columns of a row: the lower, the higher its bit
constexpr int most_columns = 16;

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

// Counts what jit/program/tree.cpp builds: a value that depends on a set of columns is made once for
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
    std::array<Key, most_columns> near_{};                     // that share a row with it
    std::array<std::span<const Key>, most_columns> by_lowest_; // rows
    std::uint64_t operations_ = 0, values_ = 0;
};

// The rows of some columns, for the code of the lowest of them.
class LeafRows {
  public:
    // Rows of each; the first changes most often.
    explicit LeafRows(std::span<const LineSet> columns) {
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

    // Of the first `count` columns. What is past `most` in one or the other need not be counted to its end.
    LeafWork work(int count, const LeafWork &most) const {
        if (count == 0) return {};
        // Cut off at a column, the keys are still in order; first those of which nothing is left.
        std::array<Key, 64> keys;
        std::size_t left = 0;
        const Key kept = below(count - 1) | bit_of(count - 1);
        for (std::size_t k = 0; k < count_; ++k)
            if ((keys_[k] & kept) != 0) keys[left++] = keys_[k] & kept;
        return LeafCount(std::span(keys).first(left), count, most).work();
    }
    // The versions of all rows' sums: of the instructions, a part that is soon counted.
    double row_sums(int count) const { return row_sums_[at(count)]; }
    std::size_t size() const { return count_; }

  private:
    std::array<Key, 64> keys_{}; // ascending
    std::size_t count_ = 0;
    std::array<double, most_columns + 1> row_sums_{};
};

int highest(LineSet set) { return 63 - std::countl_zero(set); }
LineSet set_of(int k) { return LineSet{1} << k; }

constexpr double out_of_reach = std::numeric_limits<double>::infinity();

// Columns by their places in the order.
class Shaper {
  public:
    Shaper(const std::vector<LineSet> &columns, const TreeLimits &limits)
        : columns_(columns), limits_(limits) {
        LineSet seen = 0;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            change_[c] = std::popcount(columns[c] & ~seen) + 0.5 * std::popcount(columns[c]);
            seen |= columns[c];
            for_each(columns[c], [&](int i) { of_row_[at(i)] |= set_of(static_cast<int>(c)); });
            effort_ += 20 + 2.0 * std::popcount(columns[c]);
        }
    }

    struct Choice {
        double operations = out_of_reach;
        int looped = 0;   // columns, the highest
        bool leaf = true; // the others are straight-line code
        double cost = out_of_reach;
    };

    // Of columns that hang together; or of all, whose looped columns make what runs side by side.
    Choice choose(LineSet set, bool is_root = false) {
        Known &known = known_[(set * 0x9e3779b97f4a7c15) >> (64 - known_bits)];
        if (known.set != set || is_root) {
            const Choice choice = look_for(set, is_root);
            if (is_root) return choice;
            known = {set, choice};
        }
        return known.choice;
    }

    double effort() const { return effort_; }

    // Lays the columns of `set` out from place.size() on.
    TreeShape lay_out(LineSet set, std::vector<std::int32_t> &place, bool is_root = false) {
        TreeShape shape;
        const Choice choice = choose(set, is_root);
        shape.begin = static_cast<std::int32_t>(place.size());
        LineSet below = set;
        for (int k = 0; k < choice.looped; ++k) below &= ~set_of(highest(below));
        if (choice.leaf)
            for_each(below, [&](int c) { place.push_back(c); });
        else
            for (LineSet rest = below; rest != 0;) {
                const LineSet part = component(rest);
                rest &= ~part;
                shape.parts.push_back(lay_out(part, place));
            }
        shape.loop = static_cast<std::int32_t>(place.size());
        for_each(set & ~below, [&](int c) { place.push_back(c); });
        shape.end = static_cast<std::int32_t>(place.size());
        return shape;
    }

  private:
    // Looped columns of the root that keep a GPU busy; a CPU's lanes need 5. And operations, as a power of
    // two, that a GPU does in a moment: more of them are to be cut into as many launches.
    static constexpr int wide_enough = 15, a_launch = 43;

    Choice look_for(const LineSet all, bool is_root) {
        Choice best;
        int worse = 0, left = std::popcount(all);
        std::optional<LeafRows> rows; // of what is left, once that is short enough
        double changes = 0;           // of the looped columns, for each turn of them all
        LineSet set = all;
        for (int looped = 0;; ++looped) {
            const auto turns = [&](double inner) {
                return looped == 0 ? inner : std::ldexp(inner + changes, looped);
            };
            if (set == 0 ? left == 0 && looped == 0 : component(set) != set) {
                double inner = limits_.iteration;
                for (LineSet rest = set; rest != 0;) {
                    const LineSet part = component(rest);
                    rest &= ~part;
                    inner += choose(part).operations + 2;
                }
                consider(best, {turns(inner), looped, set == 0}, is_root);
            }
            if (set == 0) return best;
            if (left <= limits_.unrolled) {
                if (!rows) rows.emplace(rows_of(set));
                if (rows->row_sums(left) <= limits_.instructions) {
                    const LeafWork work = leaf(*rows, left);
                    if (work.operations <= limits_.instructions && work.values <= limits_.values) {
                        const double inner = work.operations + (looped > 0 ? limits_.iteration : 0);
                        if (!consider(best, {turns(inner), looped, true}, is_root) && ++worse == 2)
                            return best;
                    }
                }
            } else if (best.cost < out_of_reach && (!is_root || looped > wide_enough)) {
                return best; // it has fallen apart
            }
            // The lower of two looped columns changes twice as often.
            changes = change_[at(highest(set))] + 0.5 * changes;
            set &= ~set_of(highest(set));
            --left;
        }
    }

    static bool consider(Choice &best, Choice choice, bool is_root) {
        choice.cost = choice.operations;
        if (is_root) {
            const double wide = wide_enough + std::max(0.0, std::log2(choice.operations) - a_launch);
            choice.cost *= (16 * std::exp2(std::max(0, 5 - choice.looped)) +
                            std::exp2(std::max(0.0, wide - choice.looped))) /
                           17;
        }
        if (choice.cost >= best.cost) return false;
        best = choice;
        return true;
    }

    LineSet component(LineSet set) {
        LineSet found = set & (~set + 1), rows = 0, done = 0;
        for (LineSet fresh = found; fresh != 0 && found != set;) {
            for_each(fresh, [&](int c) { rows |= columns_[at(c)]; });
            fresh = 0;
            for (LineSet met = rows & ~done; met != 0 && found != set; met &= met - 1) {
                fresh |= of_row_[at(std::countr_zero(met))] & set & ~found;
                found |= fresh;
                effort_ += 2;
            }
            done = rows;
        }
        effort_ += 5;
        return found;
    }

    LeafRows rows_of(LineSet set) {
        std::array<LineSet, 64> of;
        std::size_t count = 0;
        for_each(set, [&](int c) { of[count++] = columns_[at(c)]; });
        const LeafRows rows(std::span<const LineSet>(of.data(), count));
        effort_ += 15.0 * static_cast<double>(rows.size());
        return rows;
    }

    LeafWork leaf(const LeafRows &rows, int count) {
        effort_ += 25.0 * static_cast<double>(rows.size());
        return rows.work(count, {limits_.instructions, limits_.values});
    }

    const std::vector<LineSet> &columns_;
    const TreeLimits &limits_;
    std::array<double, 64> change_{};  // operations that a change of the column costs
    std::array<LineSet, 64> of_row_{}; // the columns of a row
    static constexpr int known_bits = 6;
    struct Known {
        LineSet set = 0;
        Choice choice;
    };
    std::array<Known, 1 << known_bits> known_; // the last choices
    double effort_ = 0;                        // nanoseconds, about
};

// The set of all columns but the last.
LineSet summed(const std::vector<LineSet> &columns) {
    return columns.size() < 2 ? 0 : ~LineSet{0} >> (65 - columns.size());
}

} // namespace

LeafWork leaf_work(const std::vector<LineSet> &columns) {
    constexpr double any = std::numeric_limits<double>::infinity();
    return LeafRows(columns).work(static_cast<int>(columns.size()), {any, any});
}

TreeCost tree_cost(const std::vector<LineSet> &columns, const TreeLimits &limits) {
    Shaper shaper(columns, limits);
    const auto root = shaper.choose(summed(columns), true);
    return {root.cost, root.looped, shaper.effort() * 1e-9};
}

ShapedOrder shape_of(const std::vector<LineSet> &columns, const TreeLimits &limits) {
    ShapedOrder order;
    Shaper shaper(columns, limits);
    order.operations = shaper.choose(summed(columns), true).operations;
    order.root = shaper.lay_out(summed(columns), order.place, true);
    order.place.push_back(static_cast<std::int32_t>(columns.size()) - 1);
    return order;
}

} // namespace libperm
