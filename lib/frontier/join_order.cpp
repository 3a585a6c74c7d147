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

} // namespace

JoinOrder::JoinOrder(const PatternGroups &left, const PatternGroups &right, std::int32_t closing,
                     std::int32_t staying)
    : left_(left), right_(right), last_lines_(std::min(staying, most_last_lines)) {
    if (left.empty() || right.empty()) return;
    taken_ = {{0, static_cast<std::uint32_t>(left.size()), 0, static_cast<std::uint32_t>(right.size())}};
    for (std::int32_t line = closing + staying - 1; line >= staying; --line) {
        split(taken_, line, neither_, one_);
        std::swap(taken_, one_);
    }
    push(staying, 0, taken_);
}

void JoinOrder::push(std::int32_t level, std::uint64_t pattern, const std::vector<Range> &ranges) {
    if (ranges.empty()) return;
    nodes_.push_back({level, pattern, ranges_.size()});
    ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
}

void JoinOrder::split(const std::vector<Range> &ranges, std::int32_t line, std::vector<Range> &neither,
                      std::vector<Range> &one) const {
    neither.clear();
    one.clear();
    for (const Range &r : ranges) {
        const std::uint32_t left = first_with(left_, r.left_begin, r.left_end, line);
        const std::uint32_t right = first_with(right_, r.right_begin, r.right_end, line);
        const bool left_without = r.left_begin < left, left_with = left < r.left_end;
        const bool right_without = r.right_begin < right, right_with = right < r.right_end;
        if (left_without && right_without) neither.push_back({r.left_begin, left, r.right_begin, right});
        if (left_without && right_with) one.push_back({r.left_begin, left, right, r.right_end});
        if (left_with && right_without) one.push_back({left, r.left_end, r.right_begin, right});
    }
}

void JoinOrder::look_at_all() {
    const std::uint64_t mask = (std::uint64_t{1} << last_lines_) - 1;
    ends_.assign(std::size_t{1} << last_lines_, 0);
    hits_.clear();
    for (const Range &range : taken_)
        for (std::uint32_t l = range.left_begin; l < range.left_end; ++l) {
            const std::uint64_t left = left_[l].pattern & mask;
            for (std::uint32_t r = range.right_begin; r < range.right_end; ++r) {
                const std::uint64_t right = right_[r].pattern & mask;
                if ((left & right) != 0) continue;
                hits_.push_back({static_cast<std::uint32_t>(left | right), {l, r}});
                ++ends_[left | right];
            }
        }
    std::size_t end = 0;
    for (std::size_t &e : ends_) { // where each begins
        const std::size_t count = e;
        e = end;
        end += count;
    }
    found_.resize(hits_.size());
    for (const Hit &hit : hits_) found_[ends_[hit.last_lines]++] = hit.pair;
    told_ = 0;
}

bool JoinOrder::next(std::uint64_t &pattern, std::vector<GroupPair> &pairs) {
    while (true) {
        for (; told_ < ends_.size(); ++told_) {
            const std::size_t begin = told_ == 0 ? 0 : ends_[told_ - 1], end = ends_[told_];
            if (begin == end) continue;
            pattern = above_ << last_lines_ | told_++;
            pairs.assign(found_.begin() + static_cast<std::ptrdiff_t>(begin),
                         found_.begin() + static_cast<std::ptrdiff_t>(end));
            return true;
        }
        if (nodes_.empty()) return false;
        const Node node = nodes_.back();
        nodes_.pop_back();
        taken_.assign(ranges_.begin() + static_cast<std::ptrdiff_t>(node.begin), ranges_.end());
        ranges_.resize(node.begin);
        if (node.level == last_lines_) {
            above_ = node.pattern;
            look_at_all();
            continue;
        }
        const std::int32_t line = node.level - 1;
        split(taken_, line, neither_, one_);
        push(line, node.pattern << 1 | 1, one_); // what comes first is pushed last
        push(line, node.pattern << 1, neither_);
    }
}

} // namespace libperm
