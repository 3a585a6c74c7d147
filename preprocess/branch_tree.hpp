// A branch decomposition under search: each node with its middle set, its states and what its join takes.
#pragma once

#include "preprocess/branch_decomposition.hpp"
#include "preprocess/branch_price.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace libperm {

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
    void set(std::int32_t node, std::span<const std::int32_t> lines);
    void clear(std::int32_t node) { slots_[static_cast<std::size_t>(node)].size = 0; }
    void compact();

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
    BranchTree(const BranchLines &lines, const BranchPricing &pricing);

    // Leaves first, all of them; then joins of two roots, until one is left.
    std::int32_t add_leaf(const BranchLeaf &leaf);
    std::int32_t join(std::int32_t first, std::int32_t second);
    double seconds_of_join(std::int32_t first, std::int32_t second); // were they joined

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
    bool is_line(const BranchNode &x) const;

    // The seconds of all joins that are run.
    double seconds() const { return seconds_; }
    void sum_seconds(); // anew, without the rounding errors of rotations
    std::int64_t bytes() const;

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
    std::optional<Rotation> rotation(std::int32_t parent, int pair, int a) const;
    Rotated rotated(const Rotation &r);
    void rotate(const Rotation &r, const Rotated &to);

  private:
    enum Place : std::uint8_t { in_first = 1, in_second = 2, in_third = 4, elsewhere = 8 };
    using Census = std::array<std::array<std::int32_t, 2>, 16>; // by places, column or row

    BranchNode joined(const BranchNode &first, const BranchNode &second, const JoinShape &shape,
                      std::int32_t only_rows) const;
    BranchNode joined(const BranchNode &first, const BranchNode &second, const Census &census,
                      unsigned of_first, unsigned of_second, unsigned of_others) const;
    BranchNode joined_roots(std::int32_t first, std::int32_t second);
    void mark(std::int32_t node, std::uint8_t place);
    void count(std::int32_t node, Census &census);

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
