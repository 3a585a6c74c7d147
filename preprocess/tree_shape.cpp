#include "preprocess/tree_shape.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace libperm {
namespace {

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
