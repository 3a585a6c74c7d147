// In which order lines are eliminated for a determinant, and the dense fronts that this falls into
// (multifrontal: Duff and Reid, ACM Trans. Math. Softw. 9, 1983). It follows from the pattern alone.
#pragma once

#include "preprocess/matching.hpp"
#include "preprocess/pattern.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

// A row with the column that it is matched to is a pair, eliminated together; pairs are numbered in that
// order.
struct Front {
    std::int32_t first = 0, last = 0; // the pairs first .. last - 1 are eliminated in it
    std::vector<std::int32_t> rest;   // the later pairs that these touch, ascending
    std::int32_t parent = -1;         // the front that what is left is added to; -1: nothing is left
    std::int32_t children = 0;        // fronts whose parent this is: the last before it that have none yet

    std::size_t pivots() const { return static_cast<std::size_t>(last - first); }
    std::size_t size() const { return pivots() + rest.size(); }
    double products() const { // of numbers, that its elimination takes
        double sum = 0;
        for (std::size_t k = rest.size(); k < size(); ++k) sum += static_cast<double>(k * k);
        return sum;
    }
};

class Fronts {
  public:
    struct Entry {
        std::int64_t entry;    // of the pattern
        std::int32_t row, col; // its pairs
    };

    Fronts() = default;
    // The matching is perfect.
    Fronts(const Pattern &a, const Matching &matching);

    const std::vector<Front> &all() const { return fronts_; } // children before their parents
    std::span<const Entry> entries(std::size_t front) const {
        return std::span(entries_).subspan(first_entry_[front],
                                           first_entry_[front + 1] - first_entry_[front]);
    }
    double products() const { return products_; } // of numbers, that a determinant takes
    double peak() const { return peak_; }         // numbers that it holds
    std::int64_t bytes() const;

  private:
    std::vector<Front> fronts_;
    std::vector<Entry> entries_; // by front
    std::vector<std::size_t> first_entry_;
    double products_ = 0, peak_ = 0;
};

} // namespace libperm
