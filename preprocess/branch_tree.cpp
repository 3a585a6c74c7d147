#include "preprocess/branch_tree.hpp"

#include "preprocess/index.hpp"

#include <algorithm>

namespace libperm {
namespace {

// The line, if all entries below the other node lie on it too. Of a graph either may be any of the two.
std::int32_t common(std::int32_t line, const BranchNode &other) {
    return line == other.row || line == other.column ? line : -1;
}

} // namespace

void MiddleSets::set(std::int32_t node, std::span<const std::int32_t> lines) {
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

void MiddleSets::compact() {
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

BranchTree::BranchTree(const BranchLines &lines, const BranchPricing &pricing)
    : lines_(&lines), pricing_(&pricing), roots_with_(at(lines.count()), 0), places_(at(lines.count()), 0) {}

std::int32_t BranchTree::add_leaf(const BranchLeaf &leaf) {
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

bool BranchTree::is_line(const BranchNode &x) const {
    return (x.row >= 0 && x.entries == lines_->degree(x.row)) ||
           (x.column >= 0 && x.entries == lines_->degree(x.column));
}

void BranchTree::mark(std::int32_t node, std::uint8_t place) {
    for (const std::int32_t line : middle_[node]) places_[at(line)] |= place;
}

// A line that was counted is marked no more: of several nodes with it, it is counted with the first.
void BranchTree::count(std::int32_t node, Census &census) {
    for (const std::int32_t line : middle_[node]) {
        ++census[places_[at(line)]][lines_->is_row(line)];
        places_[at(line)] = 0;
    }
}

BranchNode BranchTree::joined(const BranchNode &first, const BranchNode &second, const Census &census,
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
    return joined(first, second, shape, only_rows);
}

BranchNode BranchTree::joined(const BranchNode &first, const BranchNode &second, const JoinShape &shape,
                              std::int32_t only_rows) const {
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

BranchNode BranchTree::joined_roots(std::int32_t first, std::int32_t second) {
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

double BranchTree::seconds_of_join(std::int32_t first, std::int32_t second) {
    return joined_roots(first, second).seconds;
}

std::int32_t BranchTree::join(std::int32_t first, std::int32_t second) {
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

void BranchTree::sum_seconds() {
    seconds_ = 0;
    for (const BranchNode &x : nodes_) seconds_ += x.seconds;
}

std::int64_t BranchTree::bytes() const {
    return static_cast<std::int64_t>(nodes_.capacity() * sizeof(BranchNode) +
                                     leaves_.capacity() * sizeof(BranchLeaf)) +
           middle_.bytes() + 5 * lines_->count();
}

std::optional<BranchTree::Rotation> BranchTree::rotation(std::int32_t parent, int pair, int a) const {
    const BranchNode &p = node(parent);
    if (p.row >= 0 || p.column >= 0) return {};
    const std::int32_t x = p.child[static_cast<std::size_t>(pair)];
    if (x < leaves()) return {};
    const auto &below = node(x).child;
    return Rotation{parent, x, below[static_cast<std::size_t>(a)], below[static_cast<std::size_t>(1 - a)],
                    p.child[static_cast<std::size_t>(1 - pair)]};
}

BranchTree::Rotated BranchTree::rotated(const Rotation &r) {
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

void BranchTree::rotate(const Rotation &r, const Rotated &to) {
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

} // namespace libperm
