// Taking rows and columns out of a matrix, the step that compression and decomposition are made of.
//
// A row r that has only the entries a in column p and b in column q goes, and p and q become one column
// a col(q) + b col(p): the second matrix of Forbert and Marx's expansion (SUperman, Eq. 6). The same with
// rows and columns exchanged. The factors a and b are kept aside, so that a merge costs what the shorter of
// the two lines does.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/entry_lists.hpp"
#include "preprocess/weighted_forest.hpp"

namespace libperm {

template <class Value> class Contraction {
  public:
    // The block has fewer than 2^31 entries. The poll must outlive this.
    explicit Contraction(BlockOf<Value> block, const Poll &poll = never_asked);

    bool is_there(Line line) const { return lists_.is_there(line); }
    std::int32_t degree(Line line) const { return lists_.degree(line); }
    std::vector<std::int32_t> crossing(Line line); // the lines that cross it, ascending

    // Takes out the line and the one that crosses it at `other`. Their entry is the factor returned.
    Value remove(Line line, std::int32_t other);

    // Takes out the line and merges the lines that cross it at `first` and `second` into `first`. Other
    // entries of the line count as 0.
    void contract(Line line, std::int32_t first, std::int32_t second);

    // Lines whose degree has changed since the last call.
    std::vector<Line> take_changed() { return lists_.take_changed(); }

    BlockOf<Value> block(); // what is left, lines in their old order; nothing may follow

  private:
    inline static const Poll never_asked = no_poll;

    Value &value(std::int32_t entry);
    void drop(Line line);
    void forget(std::int32_t entry);

    std::int32_t n_;
    EntryLists lists_;
    std::array<WeightedForest<Value>, 2> factors_;           // of rows, of columns
    std::array<std::vector<std::int32_t>, 2> node_of_line_;  // in the forest
    std::vector<std::array<std::int32_t, 2>> node_of_entry_; // up to which factors are in its value
    std::vector<Value> values_;
};

} // namespace libperm
