#include "lib/frontier/join_order.hpp"

#include <algorithm>

namespace libperm {
namespace {

constexpr std::int32_t most_last_lines = 5; // of pairs of two patterns of them, (3/4)^5 share none

// The first group in [begin, end) that has this line; those that have it follow those that have not.
std::uint32_t first_with(const PatternGroups &groups, std::uint32_t begin, std::uint32_t end,
                         std::int32_t line) {
    const auto first = groups.begin();
    const auto place = std::partition_point(
        first + begin, first + end, [line](const PatternGroup &g) { return (g.pattern >> line & 1) == 0; });
    return static_cast<std::uint32_t>(place - first);
}

constexpr std::size_t few_pairs = 64; // are looked at all at once

std::uint64_t lines_below(std::int32_t line) {
    return line == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << line) - 1;
}

} // namespace

void JoinOrder::begin(const PatternGroups &left, const PatternGroups &right, std::int32_t closing,
                      std::int32_t staying, bool in_blocks) {
    left_ = &left;
    right_ = &right;
    last_lines_ = std::min(staying, most_last_lines);
    nodes_.clear();
    ranges_.clear();
    found_.clear();
    told_ = 0;
    if (left.empty() || right.empty()) return;
    taken_ = {{0, static_cast<std::uint32_t>(left.size()), 0, static_cast<std::uint32_t>(right.size())}};
    if (!in_blocks && are_few())
        return look_at_all(closing + staying, 0, lines_below(closing + staying) & ~lines_below(staying));
    for (std::int32_t line = closing + staying - 1; line >= staying; --line) {
        split(taken_, line, neither_, one_);
        std::swap(taken_, one_);
    }
    push(staying, 0, taken_);
}

void JoinOrder::push(std::int32_t level, std::uint64_t pattern, const std::vector<GroupRanges> &ranges) {
    if (ranges.empty()) return;
    nodes_.push_back({level, pattern, ranges_.size()});
    ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
}

void JoinOrder::split(const std::vector<GroupRanges> &ranges, std::int32_t line,
                      std::vector<GroupRanges> &neither, std::vector<GroupRanges> &one) const {
    neither.clear();
    one.clear();
    for (const GroupRanges &r : ranges) {
        const std::uint32_t left = first_with(*left_, r.left_begin, r.left_end, line);
        const std::uint32_t right = first_with(*right_, r.right_begin, r.right_end, line);
        const bool left_without = r.left_begin < left, left_with = left < r.left_end;
        const bool right_without = r.right_begin < right, right_with = right < r.right_end;
        if (left_without && right_without) neither.push_back({r.left_begin, left, r.right_begin, right});
        if (left_without && right_with) one.push_back({r.left_begin, left, right, r.right_end});
        if (left_with && right_without) one.push_back({left, r.left_end, r.right_begin, right});
    }
}

bool JoinOrder::are_few() const {
    std::size_t pairs = 0;
    for (const GroupRanges &r : taken_) {
        pairs += std::size_t{r.left_end - r.left_begin} * (r.right_end - r.right_begin);
        if (pairs > few_pairs) return false;
    }
    return true;
}

// All pairs of `taken_`, which agree in the lines from `level` on: `above`.
void JoinOrder::look_at_all(std::int32_t level, std::uint64_t above, std::uint64_t closing) {
    const std::uint64_t mask = lines_below(level);
    hits_.clear();
    for (const GroupRanges &range : taken_)
        for (std::uint32_t l = range.left_begin; l < range.left_end; ++l) {
            const std::uint64_t left = (*left_)[l].pattern & mask;
            for (std::uint32_t r = range.right_begin; r < range.right_end; ++r) {
                const std::uint64_t right = (*right_)[r].pattern & mask;
                if ((left & right) != 0 || ((left | right) & closing) != closing) continue;
                hits_.push_back({(left | right) & ~closing, {l, r}});
            }
        }
    found_.resize(hits_.size());
    told_ = 0;
    if (level > last_lines_) { // few: each behind those that are no higher
        for (std::size_t k = 0; k < hits_.size(); ++k) {
            std::size_t to = k;
            for (; to > 0 && hits_[k].pattern < found_[to - 1].pattern; --to) found_[to] = found_[to - 1];
            found_[to] = hits_[k];
        }
    } else {
        ends_.assign((std::size_t{1} << last_lines_) + 1, 0);
        for (const Hit &hit : hits_) ++ends_[hit.pattern + 1];
        for (std::size_t p = 1; p < ends_.size(); ++p) ends_[p] += ends_[p - 1];
        for (const Hit &hit : hits_) found_[ends_[hit.pattern]++] = hit;
    }
    for (Hit &hit : found_) hit.pattern |= level == 64 ? 0 : above << level;
}

bool JoinOrder::next_node(std::int32_t &level, std::uint64_t &pattern) {
    if (nodes_.empty()) return false;
    const Node node = nodes_.back();
    nodes_.pop_back();
    taken_.assign(ranges_.begin() + static_cast<std::ptrdiff_t>(node.begin), ranges_.end());
    ranges_.resize(node.begin);
    level = node.level;
    pattern = node.pattern;
    return true;
}

bool JoinOrder::next(std::uint64_t &pattern, std::vector<GroupPair> &pairs) {
    std::int32_t level = 0;
    while (told_ == found_.size()) {
        std::uint64_t above = 0;
        if (!next_node(level, above)) return false;
        if (level == last_lines_ || are_few()) {
            look_at_all(level, above, 0);
            continue;
        }
        split(taken_, level - 1, neither_, one_);
        push(level - 1, above << 1 | 1, one_); // what comes first is pushed last
        push(level - 1, above << 1, neither_);
    }
    pattern = found_[told_].pattern;
    pairs.clear();
    for (; told_ < found_.size() && found_[told_].pattern == pattern; ++told_)
        pairs.push_back(found_[told_].pair);
    return true;
}

bool JoinOrder::next_block(std::uint64_t &above, std::vector<GroupRanges> &ranges) {
    std::int32_t level = 0;
    while (next_node(level, above)) {
        if (level == last_lines_) {
            ranges = taken_;
            return true;
        }
        split(taken_, level - 1, neither_, one_);
        push(level - 1, above << 1 | 1, one_);
        push(level - 1, above << 1, neither_);
    }
    return false;
}

} // namespace libperm
