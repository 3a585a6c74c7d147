#include "preprocess/tree_shape.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

namespace libperm {
namespace {

int lowest(LineSet set) { return std::countr_zero(set); }
int highest(LineSet set) { return 63 - std::countl_zero(set); }
int size(LineSet set) { return std::popcount(set); }
double versions(std::uint32_t columns) { return std::ldexp(1.0, std::popcount(columns)); }

template <class F> void for_each(LineSet set, F f) {
    for (; set != 0; set &= set - 1) f(lowest(set));
}

// Counts what jit/program/tree_program.cpp builds: a value that depends on a set of columns is made once for
// each choice of these.
class LeafCount {
  public:
    explicit LeafCount(const std::vector<LineSet> &columns) : columns_(columns) {
        LineSet rows = 0;
        for (const LineSet c : columns) rows |= c;
        std::array<std::uint32_t, 64> of_row{};
        for (std::size_t c = 0; c < columns.size(); ++c)
            for_each(columns[c], [&](int i) { of_row[at(i)] |= 1U << c; });
        for_each(rows, [&](int i) {
            const std::uint32_t s = of_row[at(i)];
            count_.operations += versions(s) - 1;
            by_lowest_[at(std::countr_zero(s))].push_back(s);
        });
        sum((1U << columns_.size()) - 1);
    }

    LeafWork work() const { return count_; }

  private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    // A value that depends on `own`, taken by one that depends on `all`: it has to be there for as long as
    // the highest column that only the other depends on is out and in.
    void keep(std::uint32_t own, std::uint32_t all, double values) {
        const std::uint32_t only = all & ~own;
        if (only == 0) return;
        const std::uint32_t below = (1U << (31 - std::countl_zero(only))) - 1;
        count_.values += values * versions(own & below);
    }

    // Rows that share their columns below `from`: the chain begins with those that change least often.
    // Returns the columns that the product depends on.
    std::uint32_t product(std::span<std::uint32_t> rows, int from) {
        if (rows.size() == 1) return rows.front();
        const auto next = [from](std::uint32_t s) {
            return s >> from == 0 ? 64 : std::countr_zero(s >> from);
        };
        std::stable_sort(rows.begin(), rows.end(),
                         [&](std::uint32_t x, std::uint32_t y) { return next(x) > next(y); });
        std::uint32_t all = 0;
        bool first = true;
        const auto take = [&](std::uint32_t columns) {
            const std::uint32_t before = all;
            all |= columns;
            if (!first) {
                count_.operations += versions(all);
                keep(before, all, 1);
                keep(columns, all, 1);
            }
            first = false;
        };
        for (std::size_t begin = 0; begin < rows.size();) {
            const int column = next(rows[begin]);
            std::size_t end = begin + 1;
            while (end < rows.size() && next(rows[end]) == column) ++end;
            if (column == 64)
                for (std::size_t k = begin; k < end; ++k) take(rows[k]);
            else
                take(product(rows.subspan(begin, end - begin), from + column + 1));
            begin = end;
        }
        return all;
    }

    std::uint32_t component(std::uint32_t columns) const {
        LineSet rows = columns_[at(std::countr_zero(columns))];
        std::uint32_t found = columns & (~columns + 1);
        for (bool grows = true; grows;) {
            grows = false;
            for (std::uint32_t rest = columns & ~found; rest != 0; rest &= rest - 1) {
                const int c = std::countr_zero(rest);
                if ((columns_[at(c)] & rows) == 0) continue;
                rows |= columns_[at(c)];
                found |= 1U << c;
                grows = true;
            }
        }
        return found;
    }

    // The product over the parts that `columns` fall into; returns what it depends on, these included. With
    // every sum of terms goes that of their absolute values.
    std::uint32_t sum(std::uint32_t columns) {
        std::uint32_t all = 0, others = 0;
        bool first = true;
        while (columns != 0) {
            const std::uint32_t part = component(columns);
            columns &= ~part;
            const std::uint32_t before = all & ~others, own = sum_part(part) & ~part;
            all |= own | part;
            others |= part;
            if (!first) {
                count_.operations += 2 * versions(all & ~others);
                keep(before, all & ~others, 2);
                keep(own, all & ~others, 2);
            }
            first = false;
        }
        return all;
    }

    std::uint32_t sum_part(std::uint32_t columns) {
        const int c = 31 - std::countl_zero(columns);
        const std::uint32_t bit = 1U << c, below = columns & ~bit;
        auto &rows = by_lowest_[at(c)];
        std::uint32_t of_product = bit, of_below = bit;
        if (!rows.empty()) of_product |= product(rows, c + 1);
        const bool parted = below != 0 && component(below) != below;
        if (below != 0) of_below |= sum(below) & ~below;
        const std::uint32_t all = of_product | of_below;
        if (!rows.empty()) keep(of_product, all, 1);
        if (below != 0) keep(of_below, all, 2);
        const double times = versions(all & ~columns);
        if (rows.empty())
            count_.operations += parted ? 0 : 2 * times; // the last product of the parts is in the difference
        else
            count_.operations += (below == 0 ? 2 : 4) * times;
        return all | columns;
    }

    const std::vector<LineSet> &columns_;
    std::array<std::vector<std::uint32_t>, 32> by_lowest_; // the columns of each row
    LeafWork count_;
};

constexpr double out_of_reach = std::numeric_limits<double>::infinity();

class Shaper {
  public:
    Shaper(const std::vector<LineSet> &columns, const TreeLimits &limits)
        : columns_(columns), limits_(limits) {}

    struct Choice {
        double operations = out_of_reach;
        int looped = 0;   // columns, the highest
        bool leaf = true; // the others are straight-line code
        double cost = out_of_reach;
    };

    // Of columns that hang together; or of all, whose looped columns make what runs side by side.
    Choice choose(LineSet set, bool is_root = false) const {
        Choice best;
        double worse = 0;
        const LineSet all = set;
        for (int looped = 0;; ++looped) {
            if (set == 0 ? size(all) == 0 : component(set) != set) {
                double inner = limits_.iteration;
                for (LineSet rest = set; rest != 0;) {
                    const LineSet part = component(rest);
                    rest &= ~part;
                    inner += choose(part).operations + 2;
                }
                consider(best, {loop_operations(all, set, looped, inner), looped, set == 0}, is_root);
            }
            if (set == 0) return best;
            if (size(set) <= limits_.unrolled) {
                const auto [code, values] = leaf(set);
                if (code <= limits_.instructions && values <= limits_.values) {
                    const double operations =
                        loop_operations(all, set, looped, code + (looped > 0 ? limits_.iteration : 0));
                    if (!consider(best, {operations, looped, true}, is_root) && ++worse == 2) return best;
                }
            } else if (best.cost < out_of_reach && (!is_root || looped > wide_enough)) {
                return best; // it has fallen apart
            }
            set &= ~(LineSet{1} << highest(set));
        }
    }

    double effort() const { return effort_; }

    // Lays the columns of `set` out from place.size() on.
    TreeShape lay_out(LineSet set, std::vector<std::int32_t> &place, bool is_root = false) const {
        TreeShape shape;
        const Choice choice = choose(set, is_root);
        shape.begin = static_cast<std::int32_t>(place.size());
        LineSet below = set;
        for (int k = 0; k < choice.looped; ++k) below &= ~(LineSet{1} << highest(below));
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

    LineSet rows_of(LineSet set) const {
        LineSet rows = 0;
        for_each(set, [&](int c) { rows |= columns_[static_cast<std::size_t>(c)]; });
        return rows;
    }

    LineSet component(LineSet set) const {
        LineSet found = LineSet{1} << lowest(set);
        LineSet rows = columns_[static_cast<std::size_t>(lowest(set))];
        for (bool grows = true; grows;) {
            grows = false;
            effort_ += 1.5 * size(set);
            for_each(set & ~found, [&](int c) {
                if ((columns_[static_cast<std::size_t>(c)] & rows) == 0) return;
                rows |= columns_[static_cast<std::size_t>(c)];
                found |= LineSet{1} << c;
                grows = true;
            });
        }
        return found;
    }

    LeafWork leaf(LineSet set) const {
        effort_ += 20.0 * size(set);
        if (row_sums(set) > limits_.instructions) return {out_of_reach, out_of_reach};
        effort_ += 700.0 * size(set);
        std::vector<LineSet> of;
        for_each(set, [&](int c) { of.push_back(columns_[static_cast<std::size_t>(c)]); });
        return LeafCount(of).work();
    }

    // The versions of all rows' sums: of the instructions, a part that is soon counted.
    double row_sums(LineSet set) const {
        std::array<std::uint8_t, 64> columns{};
        double sums = 0;
        for_each(set, [&](int c) {
            for_each(columns_[static_cast<std::size_t>(c)],
                     [&](int i) { sums += std::exp2(columns[static_cast<std::size_t>(i)]++); });
        });
        return sums;
    }

    // 2^looped turns of `inner`, with the changes of the looped columns and the products of their rows.
    double loop_operations(LineSet all, LineSet below, int looped, double inner) const {
        if (looped == 0) return inner;
        LineSet seen = rows_of(below);
        double share = 1;
        for_each(all & ~below, [&](int c) {
            const LineSet rows = columns_[static_cast<std::size_t>(c)];
            inner += share * (size(rows & ~seen) + 0.5 * size(rows));
            seen |= rows;
            share *= 0.5;
        });
        return std::ldexp(inner, looped);
    }

    const std::vector<LineSet> &columns_;
    const TreeLimits &limits_;
    mutable double effort_ = 0;
};

// Of n columns, all but the last.
LineSet summed(const std::vector<LineSet> &columns) {
    return columns.size() < 2 ? 0 : ~LineSet{0} >> (65 - columns.size());
}

} // namespace

LeafWork leaf_work(const std::vector<LineSet> &columns) { return LeafCount(columns).work(); }

TreeCost tree_cost(const std::vector<LineSet> &columns, const TreeLimits &limits) {
    const Shaper shaper(columns, limits);
    const double cost = shaper.choose(summed(columns), true).cost;
    return {cost, shaper.effort() * 1e-9};
}

ShapedOrder shape_of(const std::vector<LineSet> &columns, const TreeLimits &limits) {
    ShapedOrder order;
    const Shaper shaper(columns, limits);
    order.operations = shaper.choose(summed(columns), true).operations;
    order.root = shaper.lay_out(summed(columns), order.place, true);
    order.place.push_back(static_cast<std::int32_t>(columns.size()) - 1);
    return order;
}

} // namespace libperm
