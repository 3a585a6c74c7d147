// The order of the lines of a sparse matrix, rows and columns, in which few are open at once, and what one
// goes through then.
#pragma once

#include "preprocess/pattern.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// The lines with an entry: row i is line i, column j line n + j.
class LinesBeside {
  public:
    struct Neighbour {
        std::int32_t line;
        std::int64_t entry;
    };
    explicit LinesBeside(const Pattern &square);

    std::int32_t count() const { return static_cast<std::int32_t>(neighbours_.size()); } // 2 n
    const std::vector<Neighbour> &of(std::int32_t line) const {
        return neighbours_[static_cast<std::size_t>(line)];
    }
    std::int64_t entries() const { return entries_; }
    std::vector<std::int32_t> with_entries() const;

  private:
    std::vector<std::vector<Neighbour>> neighbours_;
    std::int64_t entries_;
};

// A line opens; each entry that it has in common with an open one may be taken; then those close of which no
// other line has an entry.
struct CountingStep {
    struct Term {
        std::int32_t slot; // of the open lines, in the order in which they were opened
        std::int64_t entry;
    };
    struct Closing {
        std::int32_t slot; // among those that are left after the closings before
        std::int32_t line;
    };
    std::vector<Term> terms;
    std::vector<Closing> closings;
};

// By a greedy start, then by moving single lines. Deterministic.
std::vector<std::int32_t> order_of_few_open(const LinesBeside &lines, const Poll &poll);

std::vector<CountingStep> counting_steps(const LinesBeside &lines, const std::vector<std::int32_t> &order);

// Sets of open lines that a step goes through, times what is done at each, and those of all steps.
double sets_of(const CountingStep &step, std::int32_t open);
double sets_gone_through(const std::vector<CountingStep> &steps);
std::int32_t most_open(const std::vector<CountingStep> &steps);

} // namespace libperm
