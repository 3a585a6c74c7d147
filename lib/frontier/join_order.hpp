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

// States of a list, [begin, end), with one pattern of the shared lines; patterns ascend.
struct PatternGroup {
    std::uint64_t pattern;
    std::size_t begin, end;
};
using PatternGroups = std::vector<PatternGroup>;

// Groups of both sides of which each state of one is multiplied by each of the other.
struct GroupPair {
    std::uint32_t left, right;
};

class JoinOrder {
  public:
    // Both must outlive it.
    JoinOrder(const PatternGroups &left, const PatternGroups &right, std::int32_t closing,
              std::int32_t staying);

    // The next pattern of the lines that stay of which there are pairs; false: there is none. The pairs of a
    // pattern stand in an order that follows from the groups alone.
    bool next(std::uint64_t &pattern, std::vector<GroupPair> &pairs);

  private:
    struct Range { // of groups that agree in all lines above a level
        std::uint32_t left_begin, left_end, right_begin, right_end;
    };
    struct Node {
        std::int32_t level; // lines below it are not looked at yet
        std::uint64_t pattern;
        std::size_t begin; // of its ranges, at the end of all
    };
    struct Hit {
        std::uint32_t last_lines;
        GroupPair pair;
    };

    void push(std::int32_t level, std::uint64_t pattern, const std::vector<Range> &ranges);
    void split(const std::vector<Range> &ranges, std::int32_t line, std::vector<Range> &neither,
               std::vector<Range> &one) const;
    void look_at_all(); // pairs of `taken_`

    const PatternGroups &left_, &right_;
    const std::int32_t last_lines_; // of which all pairs are looked at
    std::vector<Node> nodes_;
    std::vector<Range> ranges_; // of all nodes, in their order
    std::vector<Range> taken_, neither_, one_;
    // Pairs by pattern, of which some have been told.
    std::uint64_t above_ = 0;
    std::vector<Hit> hits_;
    std::vector<GroupPair> found_;
    std::vector<std::size_t> ends_; // of each pattern of the last lines
    std::size_t told_ = 0;          // of these
};

} // namespace libperm
