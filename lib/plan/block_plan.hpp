// Blocks by their lines, and how each of them is computed: the engines that could, and the one that is
// chosen.
#pragma once

#include "lib/run/candidates.hpp"
#include "lib/structure/structure.hpp"
#include "preprocess/repeated_lines.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace libperm {

struct Options;
struct BlockPlan {
    std::int32_t n = 0;
    std::int64_t nnz = 0;
    bool nonnegative = false; // the values are known to be
    Numbers numbers;
    std::vector<Candidate> candidates; // by predicted time of one thread
    int chosen = -1;                   // in candidates; -1: all refused
    std::string why;                   // the choice, in words
    perm_status refusal = PERM_OK;     // of running this block, with its text
    std::string refusal_text;

    const Candidate *choice() const {
        return chosen < 0 ? nullptr : &candidates[static_cast<std::size_t>(chosen)];
    }
    // The chosen one, or the one that would be without limits.
    const Candidate &best() const { return chosen < 0 ? candidates.front() : *choice(); }
};

std::int64_t bytes_of(const BlockPlan &plan);

// Throws Error only when stopped by its call: what cannot be run still makes a plan, to be explained.
// `effort`: of the search for a good order, for a rough idea of the cost less than 1.
BlockPlan plan_block(const Pattern &a, const LineClasses &kinds, const BlockValues &values,
                     const Options &options, double effort = 1);

// A plan's blocks, each with a number: they are found again by their lines and the structure of their values,
// which a plan depends on alone.

struct BlockLines {
    Pattern pattern;
    LineClasses kinds;
    Structure structure = {};
};

inline bool are_lines(const BlockLines &x, const Pattern &a, const LineClasses &kinds,
                      const Structure &structure) {
    return x.pattern.row_ptr == a.row_ptr && x.pattern.col == a.col && x.pattern.one_sided == a.one_sided &&
           x.kinds.of_row == kinds.of_row && x.kinds.of_col == kinds.of_col && x.structure == structure;
}

// FNV-1a, by whole numbers.
inline std::uint64_t hash_of(const Pattern &a, const LineClasses &kinds) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto mix = [&hash](const auto &numbers) {
        for (const auto x : numbers) hash = (hash ^ static_cast<std::uint64_t>(x)) * 0x100000001b3;
        hash = (hash ^ numbers.size()) * 0x100000001b3;
    };
    mix(a.row_ptr);
    mix(a.col);
    mix(kinds.of_row);
    mix(kinds.of_col);
    return hash;
}

inline std::int64_t bytes_of(const BlockLines &x) {
    return static_cast<std::int64_t>(sizeof x + x.pattern.row_ptr.size() * sizeof(std::int64_t) +
                                     (x.pattern.col.size() + x.kinds.of_row.size() + x.kinds.of_col.size()) *
                                         sizeof(std::int32_t)) +
           bytes_of(x.structure);
}

template <class Content> class BlocksByLines {
  public:
    struct Block {
        BlockLines lines;
        Content content;
    };

    std::size_t size() const { return blocks_.size(); }
    bool empty() const { return blocks_.empty(); }
    auto begin() const { return blocks_.begin(); }
    auto end() const { return blocks_.end(); }
    const Block &operator[](std::size_t number) const { return blocks_[number]; }
    Content &content(std::size_t number) { return blocks_[number].content; }

    std::optional<std::size_t> find(const Pattern &a, const LineClasses &kinds,
                                    const Structure &structure) const {
        for (auto [at, end] = numbers_.equal_range(hash_of(a, kinds)); at != end; ++at)
            if (are_lines(blocks_[at->second].lines, a, kinds, structure)) return at->second;
        return {};
    }
    bool contains(const Pattern &a) const { return find(a, {}, {}).has_value(); }

    // Of a block that is not there yet; its number, the next.
    std::size_t add(BlockLines lines, Content content) {
        numbers_.emplace(hash_of(lines.pattern, lines.kinds), blocks_.size());
        blocks_.push_back({std::move(lines), std::move(content)});
        return blocks_.size() - 1;
    }

    void clear() { *this = {}; }

  private:
    std::vector<Block> blocks_;
    std::unordered_multimap<std::uint64_t, std::size_t> numbers_; // by their hashes
};

} // namespace libperm
