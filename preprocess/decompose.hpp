// The road from the input to what the engines get: a sum of products of blocks, made as it is consumed. Only
// the blocks on one path from the root are in memory, however many there are in all.
#pragma once

#include "preprocess/compression.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/passes.hpp"
#include "preprocess/repeated_lines.hpp"

#include <functional>
#include <optional>
#include <variant>

namespace libperm {

template <class Value> struct LeafOf {
    BlockOf<Value> block;
    LineClasses kinds;
};
using Leaf = LeafOf<Tracked>;

// One step of the evaluation, in postfix order: the last one leaves the permanent on a stack of numbers.
struct Multiply {
    std::size_t count;
};
struct Add {
    std::size_t count;
};
template <class Value>
using StepOf = std::variant<LeafOf<Value>, Value, Multiply, Add>; // the first two put a number on the stack

// What was done, over all blocks.
struct Reductions {
    std::int64_t dropped = 0;                // entries in no perfect matching
    std::int64_t blocks = 0;                 // of matrices that fell apart
    std::int64_t degree_1 = 0, degree_2 = 0; // lines taken out
    std::int64_t expansions = 0;
    std::int64_t zeros = 0;  // parts without a perfect matching
    std::int64_t merged = 0; // rows and columns equal to another, or lines of a graph
};

// SUperman's rule (Algorithm 4): down to n = 30, lines of at most 4 entries, the lightest first.
constexpr std::int32_t paper_order = 30, paper_degree = 4;

template <class Value> struct DecompositionRule {
    Passes passes;
    bool as_published = false; // `paper_order` and `paper_degree`; else compression to the end, and ...
    std::function<bool(const BlockOf<Value> &)>
        expand;                       // ... this decides on expansion along the lightest line
    MemoryAccount *account = nullptr; // what holds the blocks under way, if there is one; may throw
};

template <class Value> class Decomposition {
  public:
    using Block = BlockOf<Value>;
    using Step = StepOf<Value>;
    using Rule = DecompositionRule<Value>;

    // All that is done depends on the pattern and the rule alone, but for the merging of repeated lines.
    Decomposition(Block root, Rule rule);

    bool next(Step &step); // false: there was no more
    const Reductions &reductions() const { return reductions_; }

  private:
    enum class Stage { match, apart, compress, expand, merge }; // apart: a graph that has lost entries
    struct Work {
        Block block;
        Stage stage;
        Charge charge;
    };
    using Item = std::variant<Work, Step>;

    void match(Block block);
    void part_graph(Block graph, Stage stage);
    std::optional<Stage> stage_after(Block &part);
    void begin(Block block); // that cannot be split any more by matching
    void compress_lines(Block block);
    void consider_expansion(Block block);
    void finish(Block block);
    void push(Step step) { stack_.emplace_back(std::move(step)); }
    void push(Block block, Stage stage);
    void push_zero(); // of a part without a perfect matching
    // Of what a pass takes beside the block: so many blocks like it, and so much for each row.
    Charge passing(const Block &block, double blocks, std::int64_t by_row) const;
    bool may_expand(const Block &block) const;

    Rule rule_;
    Reductions reductions_;
    std::vector<Item> stack_; // to be done, the last first
    Charge in_hand_;          // of the block that is worked on
};

} // namespace libperm
