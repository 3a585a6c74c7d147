// The two matrices the frontier can run through, and what is open after some of their rows.
#pragma once

#include "preprocess/pattern.hpp"
#include "preprocess/repeated_lines.hpp"

#include <algorithm>
#include <array>

namespace libperm {

struct FrontierSide {
    bool transposed = false;
    Pattern rows;                           // every row of A or A^T, over kinds of columns
    Pattern columns;                        // its transpose
    std::vector<std::int32_t> multiplicity; // columns of each kind
    std::vector<std::int64_t> entry;        // of `rows`: the entry of A that all of the kind equal there

    bool counted() const { return rows.cols < rows.rows; } // some kind has several columns
};

// A, then A^T. Kinds are numbered in the order of their lowest column; without equal columns `rows` is the
// matrix itself.
std::array<FrontierSide, 2> frontier_sides(const Pattern &a, const LineClasses &kinds);

// The frontier after some rows: which columns are open (met already, still to be met), how they hang
// together, and how many states there can be at most.
//
// A column here is a kind of m equal ones, often a single one; a state counts how many of each are used.
// After some of its rows the count s is at most m and at most the rows met, and at least m less the rows to
// come: else those could not use up the rest.
//
// After a set of rows, the processed part of the matrix falls into connected components. In one with r rows
// the counts add up to r. Let a be by how much they can vary, summed, and u what is left of r when each has
// its least: then there are at most C(a, u) states, which for single columns are the sets of u of the a open
// ones; and, a count being what the others leave, at most the product of the others' possibilities. The whole
// frontier has at most the product over its components.

// log2 of n!, and from it of binomial coefficients.
class Log2Binomial {
  public:
    explicit Log2Binomial(std::int32_t n);
    double operator()(std::int32_t a, std::int32_t u) const {
        if (u < 0 || u > a) return -1e300; // no such subset
        const auto f = [this](std::int32_t k) { return log2_factorial_[static_cast<std::size_t>(k)]; };
        return f(a) - f(u) - f(a - u);
    }

  private:
    std::vector<double> log2_factorial_;
};

struct OpenColumn {
    std::int32_t col;
    std::int32_t met;       // rows so far that hold it
    std::int32_t remaining; // ... and still to come
    std::int32_t component; // the id: any column of it, ever
    std::int32_t active;    // of its component: by how much the counts can vary, summed ...
    std::int32_t used;      // ... and by how much each state is above the least
    double log2_states;     // of its component
};

// How many entries a column can have had after the rows so far.
struct CountRange {
    std::int32_t least, most;
    std::int32_t width() const { return most - least; }
};

// What one row does to the frontier.
struct FrontierStepCost {
    double log2_states_before = 0, log2_states_after = 0;
    double expansions = 0; // pairs (state, entry of the row) that lead somewhere, at most
    // The same if every subset of the right size counts, repeated columns one by one: of the dense form.
    double log2_subsets_after = 0, subset_expansions = 0;
    std::int32_t width_after = 0; // columns of these subsets
    std::int32_t opened = 0, closed = 0;
};

class FrontierState {
  public:
    FrontierState(const FrontierSide &side, const Log2Binomial &log2_binomial);

    FrontierStepCost advance(std::int32_t row);

    const std::vector<OpenColumn> &open() const { return open_; }
    double log2_states() const { return log2_states_; }
    std::int64_t width() const { return static_cast<std::int64_t>(open_.size()); }

    // Going back to a frontier seen before costs no more than its width.
    struct Snapshot {
        std::vector<OpenColumn> open;
        double log2_states = 0;
        std::int32_t width = 0, used = 0;
    };
    void save(Snapshot &s) const;
    void restore(const Snapshot &s);

    bool is_open(std::int32_t col) const { return slot_[static_cast<std::size_t>(col)] >= 0; }
    std::int32_t remaining(std::int32_t col) const;
    struct Component { // of open columns that rows have tied to each other
        std::int32_t id, active, used;
        double log2_states;
    };
    void close_and_merge(const Component &merged);

    CountRange range(const OpenColumn &o) const {
        const std::int32_t m = side_.multiplicity[static_cast<std::size_t>(o.col)];
        return {std::max(0, m - o.remaining), std::min(m, o.met)};
    }

  private:
    std::int32_t degree(std::int32_t col) const {
        return static_cast<std::int32_t>(side_.columns.row(col).size());
    }
    double log2_boxes() const;

    const FrontierSide &side_;
    const Log2Binomial &log2_binomial_;
    bool counted_; // there are equal columns
    std::vector<OpenColumn> open_;
    std::vector<std::int32_t> slot_;  // of a column in open_, -1 when it is not open
    std::vector<std::int64_t> stamp_; // of a component: the step that last merged it
    std::int64_t tick_ = 0;
    double log2_states_ = 0;
    std::int32_t width_ = 0, used_ = 0; // open columns, each of a kind; of them used in every state
};

} // namespace libperm
