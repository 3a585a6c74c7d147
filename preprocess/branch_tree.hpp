// A branch decomposition under search: each node with its middle set, its states and what its join takes, the
// pairs of states of its children that go together.
#pragma once

#include "preprocess/branch_decomposition.hpp"
#include "preprocess/branch_price.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace libperm {

// log2 of states beyond which numbers are not told apart: their products are to be finite.
constexpr double most_log2_branch_states = 400;

// The lines of two nodes that are joined.
struct JoinShape {
    std::int32_t only_first = 0, only_second = 0;   // in the middle set of one alone: they stay
    std::int32_t stay_rows = 0, stay_columns = 0;   // in both, and with entries elsewhere
    std::int32_t leave_rows = 0, leave_columns = 0; // in both, and nowhere else
    std::int32_t width() const { return only_first + only_second + stay_rows + stay_columns; }
};

// The states of a node.
struct BranchStates {
    std::int32_t width = 0, used = 0;
    double count = 1;
    double used_share = 0;    // of the lines, but never quite none or all
    bool leaf = false;        // a row, a column or an entry: taken by a step, with no table of its own
    std::int32_t choices = 0; // of a leaf: its entries
};

class BranchPricing {
  public:
    // Prices sets of at most so many lines.
    BranchPricing(const BranchPrice &price, double most_states, std::int32_t lines,
                  BranchSides sides = BranchSides::two)
        : price_(price), most_states_(most_states), log2_states_(lines, sides) {}

    // At least one: what has none is a permanent of 0, which others find.
    BranchStates states(std::int32_t width, std::int32_t used) const {
        BranchStates s;
        s.width = width;
        s.used = used;
        s.count = std::exp2(std::clamp(log2_states_(width, used), 0.0, most_log2_branch_states));
        constexpr double least = 1e-3;
        if (log2_states_.sides() != BranchSides::two)
            s.used_share = 0.5;
        else if (width > 0)
            s.used_share = std::clamp(static_cast<double>(used) / width, least, 1 - least);
        return s;
    }

    double pairs(const JoinShape &join, const BranchStates &first, const BranchStates &second) const {
        if (second.leaf) return step_pairs(join, first, second);
        if (first.leaf) return step_pairs(join, second, first);
        const double a = first.used_share, b = second.used_share;
        const double column_in_one_or_none = 1 - a * b, row_in_one_or_none = 1 - (1 - a) * (1 - b);
        const double in_one = a * (1 - b) + b * (1 - a);
        return std::max(1.0, first.count * second.count * power(column_in_one_or_none, join.stay_columns) *
                                 power(row_in_one_or_none, join.stay_rows) *
                                 power(in_one, join.leave_rows + join.leave_columns));
    }

    // Seconds of a join. What is too large for the memory takes that much longer.
    double seconds(const JoinShape &join, const BranchStates &first, const BranchStates &second,
                   const BranchStates &result) const {
        const double of_pair = first.leaf || second.leaf ? price_.step : price_.product;
        const double seconds =
            price_.node + of_pair * pairs(join, first, second) + price_.state * result.count;
        return seconds * std::max(1.0, result.count / most_states_);
    }

    // Seconds of the dearest node of any decomposition, at least, if each line has so many entries.
    //
    // Below a node let r and c be the rows and columns with entries, r' and c' those with none elsewhere: it
    // has C(u + v, u) states, u = r - c', v = c - r'. Let d be the degree, m = d/4, and P a lowest node with
    // r, c >= m. Each of its children has r < m, which leaves it no c', or c < m and no r'. If both have
    // r < m, then P has r < 2m, so c' = 0 and u >= m; and r' = 0 and v >= m, or c >= d and v >= d - r >= m.
    // Both c < m: likewise. Else only rows of the one can be in r', and only columns of the other in c', each
    // less than m, and u, v >= m as before.
    double least_seconds(std::int32_t degree) const {
        const bool is_known = log2_states_.sides() == BranchSides::two;
        const std::int32_t m = is_known && degree > 4 ? (degree + 3) / 4 : 0;
        return price_.state * states(2 * m, m).count;
    }

  private:
    // For each state of the table the entries of the leaf that it can take, or for a single one the choice to
    // leave it. What leaves must be matched by now.
    double step_pairs(const JoinShape &join, const BranchStates &table, const BranchStates &leaf) const {
        const double column = table.used_share, row = 1 - column; // the chance that it is matched
        if (leaf.choices == 1) {
            const double left = power(row, join.leave_rows) * power(column, join.leave_columns);
            const double taken = power(1 - row, join.leave_rows + join.stay_rows) *
                                 power(1 - column, join.leave_columns + join.stay_columns);
            return std::max(1.0, table.count * (left + taken));
        }
        const bool of_rows = join.leave_rows + join.stay_rows > 0; // its shared lines: it is a column
        const double matched = of_rows ? row : column;
        const std::int32_t leave = join.leave_rows + join.leave_columns,
                           stay = join.stay_rows + join.stay_columns;
        const std::int32_t fresh = leaf.choices - leave - stay;
        const double to_leave = leave == 0 ? 0 : leave * (1 - matched) * power(matched, leave - 1);
        const double others = (stay * (1 - matched) + fresh) * power(matched, leave);
        return std::max(1.0, table.count * (to_leave + others));
    }

    static double power(double x, std::int32_t n) {
        double product = 1;
        for (; n > 0; n >>= 1, x *= x)
            if (n & 1) product *= x;
        return product;
    }

    BranchPrice price_;
    double most_states_;
    Log2BranchStates log2_states_;
};

// The middle sets of a tree's nodes, in one piece of memory: copied at once, and changed with few moves.
class MiddleSets {
  public:
    std::span<const std::int32_t> operator[](std::int32_t node) const {
        const Slot &s = slots_[static_cast<std::size_t>(node)];
        return {lines_.data() + s.begin, static_cast<std::size_t>(s.size)};
    }
    void add(std::span<const std::int32_t> lines) {
        slots_.push_back({});
        set(static_cast<std::int32_t>(slots_.size()) - 1, lines);
    }
    // `lines` lie elsewhere.
    void set(std::int32_t node, std::span<const std::int32_t> lines) {
        Slot &slot = slots_[static_cast<std::size_t>(node)];
        const auto size = static_cast<std::int32_t>(lines.size());
        if (size > slot.room) {
            lost_ += static_cast<std::size_t>(slot.room);
            slot.begin = lines_.size();
            slot.room = slot.room == 0 ? size : size + size / 4 + 2;
            slot.size = 0;
            lines_.resize(lines_.size() + static_cast<std::size_t>(slot.room));
        }
        std::copy(lines.begin(), lines.end(), lines_.begin() + static_cast<std::ptrdiff_t>(slot.begin));
        slot.size = size;
        if (lost_ > 1024 + lines_.size() / 2) compact();
    }
    void compact() {
        std::vector<std::int32_t> kept;
        kept.reserve(lines_.size() - lost_);
        for (Slot &slot : slots_) {
            const auto from = lines_.begin() + static_cast<std::ptrdiff_t>(slot.begin);
            slot.begin = kept.size();
            slot.room = slot.size;
            kept.insert(kept.end(), from, from + slot.size);
        }
        lines_ = std::move(kept);
        lost_ = 0;
    }

    std::int64_t bytes() const {
        return static_cast<std::int64_t>(slots_.capacity() * sizeof(Slot) +
                                         lines_.capacity() * sizeof(std::int32_t));
    }

  private:
    struct Slot {
        std::size_t begin = 0;
        std::int32_t size = 0, room = 0;
    };
    std::vector<Slot> slots_;
    std::vector<std::int32_t> lines_;
    std::size_t lost_ = 0; // room in lines_ that belongs to no slot
};

struct BranchNode {
    std::int32_t parent = -1;
    std::array<std::int32_t, 2> child{-1, -1};
    std::int32_t row = -1, column = -1; // the line that all entries below lie on, if one may be a leaf
    std::int32_t entries = 0;           // below
    std::int32_t middle_rows = 0;
    std::int32_t surplus = 0; // rows less columns whose entries are all below
    BranchStates states;
    double seconds = 0; // of its join, without what is below
};

class BranchTree {
  public:
    BranchTree(const BranchLines &lines, const BranchPricing &pricing)
        : lines_(&lines),
          pricing_(&pricing),
          roots_with_(at(lines.count()), 0),
          places_(at(lines.count()), 0) {}

    // Leaves first, all of them; then joins of two roots, until one is left.
    std::int32_t add_leaf(const BranchLeaf &leaf) {
        BranchNode x;
        scratch_.clear();
        const auto meet = [&](std::int32_t line, bool all_below) {
            if (all_below) {
                x.surplus += lines_->is_row(line) ? 1 : -1;
            } else {
                scratch_.push_back(line);
                x.middle_rows += lines_->is_row(line);
                ++roots_with_[at(line)];
            }
        };
        if (leaf.kind == BranchLeaf::Kind::entry) {
            const std::span<const std::int32_t> lines = lines_->of(static_cast<std::int32_t>(leaf.entry));
            const auto of_leaf = [this](std::int32_t line) { return lines_->has_loop(line) ? -1 : line; };
            x.entries = 1;
            x.row = of_leaf(lines.front());
            x.column = of_leaf(lines.back());
            for (const std::int32_t line : lines) meet(line, lines_->degree(line) == 1);
        } else {
            const std::int32_t line = lines_->line_of(leaf);
            (lines_->is_row(line) ? x.row : x.column) = line;
            x.entries = lines_->degree(line);
            meet(line, true);
            for (const std::int32_t e : lines_->on(line)) {
                const std::int32_t other = lines_->other(line, e);
                meet(other, lines_->degree(other) == 1);
            }
        }
        const auto width = static_cast<std::int32_t>(scratch_.size());
        x.states = pricing_->states(width, x.surplus + x.middle_rows);
        x.states.leaf = true;
        x.states.choices = x.entries;
        leaves_.push_back(leaf);
        nodes_.push_back(x);
        middle_.add(scratch_);
        ++roots_;
        return size() - 1;
    }
    std::int32_t join(std::int32_t first, std::int32_t second) {
        BranchNode x = joined_roots(first, second);
        x.child = {first, second};
        scratch_.clear();
        mark(first, in_first);
        for (const std::int32_t line : middle_[second]) {
            const bool in_both = places_[at(line)] != 0;
            places_[at(line)] = 0;
            if (in_both) --roots_with_[at(line)];
            if (in_both && roots_with(line) == 1)
                roots_with_[at(line)] = 0; // all its entries are below
            else
                scratch_.push_back(line);
        }
        for (const std::int32_t line : middle_[first]) {
            if (places_[at(line)] != 0) scratch_.push_back(line);
            places_[at(line)] = 0;
        }
        const std::int32_t k = size();
        nodes_[at(first)].parent = nodes_[at(second)].parent = k;
        nodes_.push_back(x);
        middle_.add(scratch_);
        seconds_ += x.seconds;
        --roots_;
        return k;
    }
    double seconds_of_join(std::int32_t first, std::int32_t second) {
        return joined_roots(first, second).seconds; // were they joined
    }

    const BranchLines &lines() const { return *lines_; }
    const BranchPricing &pricing() const { return *pricing_; }
    std::int32_t size() const { return static_cast<std::int32_t>(nodes_.size()); }
    std::int32_t leaves() const { return static_cast<std::int32_t>(leaves_.size()); }
    std::int32_t roots() const { return roots_; }
    std::int32_t roots_with(std::int32_t line) const { return roots_with_[static_cast<std::size_t>(line)]; }
    const BranchLeaf &leaf(std::int32_t k) const { return leaves_[static_cast<std::size_t>(k)]; }
    const BranchNode &node(std::int32_t k) const { return nodes_[static_cast<std::size_t>(k)]; }
    std::span<const std::int32_t> middle(std::int32_t k) const { return middle_[k]; }

    // Its entries are all of a line: run as a leaf, whatever is below.
    bool is_line(const BranchNode &x) const {
        return (x.row >= 0 && x.entries == lines_->degree(x.row)) ||
               (x.column >= 0 && x.entries == lines_->degree(x.column));
    }

    // The seconds of all joins that are run.
    double seconds() const { return seconds_; }
    // Anew, without the rounding errors of rotations
    void sum_seconds() {
        seconds_ = 0;
        for (const BranchNode &x : nodes_) seconds_ += x.seconds;
    }
    std::int64_t bytes() const {
        return static_cast<std::int64_t>(nodes_.capacity() * sizeof(BranchNode) +
                                         leaves_.capacity() * sizeof(BranchLeaf)) +
               middle_.bytes() + 5 * lines_->count();
    }

    // ((a, b), c) becomes ((a, c), b), where (a, b) is the child `pair` of `parent`.
    struct Rotation {
        std::int32_t parent, pair, a, b, c;
    };
    struct Rotated {
        BranchNode pair, parent;
        std::int64_t lines;           // that were looked at
        double before = 0, after = 0; // seconds of the two
    };
    // None where nothing is there to be rotated.
    std::optional<Rotation> rotation(std::int32_t parent, int pair, int a) const {
        const BranchNode &p = node(parent);
        if (p.row >= 0 || p.column >= 0) return {};
        const std::int32_t x = p.child[static_cast<std::size_t>(pair)];
        if (x < leaves()) return {};
        const auto &below = node(x).child;
        return Rotation{parent, x, below[static_cast<std::size_t>(a)], below[static_cast<std::size_t>(1 - a)],
                        p.child[static_cast<std::size_t>(1 - pair)]};
    }
    Rotated rotated(const Rotation &r) {
        mark(r.a, in_first);
        mark(r.b, in_second);
        mark(r.c, in_third);
        mark(r.parent, elsewhere);
        Census census{};
        count(r.a, census);
        count(r.b, census);
        count(r.c, census);
        Rotated to;
        to.pair = joined(node(r.a), node(r.c), census, in_first, in_third, in_second | elsewhere);
        to.parent = joined(to.pair, node(r.b), census, in_first | in_third, in_second, elsewhere);
        to.before = node(r.pair).seconds + node(r.parent).seconds;
        to.after = to.pair.seconds + to.parent.seconds;
        to.lines = node(r.a).states.width + node(r.b).states.width + node(r.c).states.width +
                   node(r.parent).states.width;
        return to;
    }
    void rotate(const Rotation &r, const Rotated &to) {
        mark(r.b, in_second);
        mark(r.parent, elsewhere);
        scratch_.clear();
        for (const std::int32_t k : {r.a, r.c})
            for (const std::int32_t line : middle_[k]) {
                std::uint8_t &places = places_[at(line)];
                if ((places & (in_second | elsewhere)) && !(places & in_first)) {
                    scratch_.push_back(line);
                    places |= in_first; // seen
                }
            }
        for (const std::int32_t k : {r.a, r.b, r.c})
            for (const std::int32_t line : middle_[k]) places_[at(line)] = 0;
        middle_.set(r.pair, scratch_);
        BranchNode &pair = nodes_[at(r.pair)], &parent = nodes_[at(r.parent)];
        const std::int32_t up = parent.parent;
        pair = to.pair;
        parent = to.parent;
        pair.parent = r.parent;
        parent.parent = up;
        pair.child = {r.a, r.c};
        parent.child = {r.pair, r.b};
        nodes_[at(r.a)].parent = nodes_[at(r.c)].parent = r.pair;
        nodes_[at(r.b)].parent = r.parent;
        seconds_ += to.after - to.before;
    }

  private:
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    enum Place : std::uint8_t { in_first = 1, in_second = 2, in_third = 4, elsewhere = 8 };
    using Census = std::array<std::array<std::int32_t, 2>, 16>; // by places, column or row

    // The line, if all entries below the other node lie on it too. Of a graph either may be any of the two.
    static std::int32_t common(std::int32_t line, const BranchNode &other) {
        return line == other.row || line == other.column ? line : -1;
    }
    BranchNode joined(const BranchNode &first, const BranchNode &second, const Census &census,
                      unsigned of_first, unsigned of_second, unsigned of_others) const {
        JoinShape shape;
        std::int32_t only_rows = 0;
        for (unsigned places = 1; places < census.size(); ++places) {
            const auto [columns, rows] = census[places];
            const bool stays = places & of_others;
            if (places & of_first && places & of_second) {
                (stays ? shape.stay_rows : shape.leave_rows) += rows;
                (stays ? shape.stay_columns : shape.leave_columns) += columns;
            } else if (stays && places & (of_first | of_second)) {
                (places & of_first ? shape.only_first : shape.only_second) += rows + columns;
                only_rows += rows;
            }
        }
        BranchNode x;
        x.row = common(first.row, second);
        x.column = common(first.column, second);
        x.entries = first.entries + second.entries;
        x.middle_rows = only_rows + shape.stay_rows;
        x.surplus = first.surplus + second.surplus + shape.leave_rows - shape.leave_columns;
        x.states = pricing_->states(shape.width(), x.surplus + x.middle_rows);
        // A part of a line costs nothing, for the line is what may become of it.
        if (x.row >= 0 || x.column >= 0) {
            x.states.leaf = is_line(x);
            x.states.choices = x.entries;
        } else {
            x.seconds = pricing_->seconds(shape, first.states, second.states, x.states);
        }
        return x;
    }
    BranchNode joined_roots(std::int32_t first, std::int32_t second) {
        mark(first, in_first);
        mark(second, in_second);
        for (const std::int32_t k : {first, second})
            for (const std::int32_t line : middle_[k]) {
                std::uint8_t &places = places_[at(line)];
                const bool in_both = (places & in_first) && (places & in_second);
                if (roots_with(line) > (in_both ? 2 : 1) || !in_both) places |= elsewhere;
            }
        Census census{};
        count(first, census);
        count(second, census);
        return joined(node(first), node(second), census, in_first, in_second, elsewhere);
    }
    void mark(std::int32_t node, std::uint8_t place) {
        for (const std::int32_t line : middle_[node]) places_[at(line)] |= place;
    }
    // A line that was counted is marked no more: of several nodes with it, it is counted with the first.
    void count(std::int32_t node, Census &census) {
        for (const std::int32_t line : middle_[node]) {
            ++census[places_[at(line)]][lines_->is_row(line)];
            places_[at(line)] = 0;
        }
    }

    const BranchLines *lines_;
    const BranchPricing *pricing_;
    std::vector<BranchLeaf> leaves_;
    std::vector<BranchNode> nodes_;
    MiddleSets middle_;
    std::vector<std::int32_t> roots_with_; // of each line
    std::int32_t roots_ = 0;
    double seconds_ = 0;
    std::vector<std::uint8_t> places_; // of each line; 0 between calls
    std::vector<std::int32_t> scratch_;
};

} // namespace libperm
