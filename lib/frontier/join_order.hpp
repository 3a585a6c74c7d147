// Pairs of states that a join multiplies, in the order of what they come to.
//
// Both lists are sorted by the pattern of the lines that they share, those that close above those that stay.
// A line that closes is in one of both. What comes to one pattern of the lines that stay, p, is the sum over
// p = q + r, disjoint, of the pairs of pattern q on one side and r on the other: a subset convolution, done
// by recursion from the highest shared line down, and for the last lines by looking at all pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

// Numbers of a side, [begin, end), with one pattern of the shared lines; patterns ascend.
struct PatternGroup {
    std::uint64_t pattern;
    std::size_t begin, end;
    std::uint32_t states; // as many, or fewer: the other numbers are 0
};
using PatternGroups = std::vector<PatternGroup>;

// Groups of both sides of which each state of one is multiplied by each of the other.
struct GroupPair {
    std::uint32_t left, right;
};

// Groups of both sides that agree, on each, in all lines but the last.
struct GroupRanges {
    std::uint32_t left_begin, left_end, right_begin, right_end;
};

class JoinOrder {
  public:
    // Both must stay as they are until the next one begins. `in_blocks`: next_block() will be called, else
    // next().
    void begin(const PatternGroups &left, const PatternGroups &right, std::int32_t closing,
               std::int32_t staying, bool in_blocks);

    // The next pattern of the lines that stay of which there are pairs; false: there is none. The pairs of a
    // pattern stand in the order of the left side's.
    bool next(std::uint64_t &pattern, std::vector<GroupPair> &pairs);

    // The same for all patterns at once that agree in all but the last lines: those `above`.
    bool next_block(std::uint64_t &above, std::vector<GroupRanges> &ranges);
    std::int32_t last_lines() const { return last_lines_; }

  private:
    struct Node {
        std::int32_t level; // lines below it are not looked at yet
        std::uint64_t pattern;
        std::size_t begin; // of its ranges, at the end of all
    };
    struct Hit {
        std::uint64_t pattern;
        GroupPair pair;
    };

    void push(std::int32_t level, std::uint64_t pattern, const std::vector<GroupRanges> &ranges);
    void split(const std::vector<GroupRanges> &ranges, std::int32_t line, std::vector<GroupRanges> &neither,
               std::vector<GroupRanges> &one) const;
    bool next_node(std::int32_t &level, std::uint64_t &pattern); // its ranges are `taken_`
    bool are_few() const;
    void look_at_all(std::int32_t level, std::uint64_t above, std::uint64_t closing);

    const PatternGroups *left_ = nullptr, *right_ = nullptr;
    std::int32_t last_lines_ = 0; // of which all pairs are looked at
    std::vector<Node> nodes_;
    std::vector<GroupRanges> ranges_; // of all nodes, in their order
    std::vector<GroupRanges> taken_, neither_, one_;
    std::vector<Hit> hits_, found_; // by pattern, of which some have been told
    std::vector<std::size_t> ends_; // of each pattern of the last lines
    std::size_t told_ = 0;
};

} // namespace libperm
