// In which order lines are eliminated for a determinant or a Pfaffian, and the dense fronts that this falls
// into (multifrontal: Duff and Reid, ACM Trans. Math. Softw. 9, 1983). It follows from the pattern alone.
#pragma once

#include "preprocess/limits.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/pattern.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

// What fronts hold, as a call's memory is told: it grows by pivots that are delayed.
inline double bytes_of_ball(int bits) { return 88 + bits / 8.0; }

inline void grow_to(Charge &charge, double bytes) {
    if (bytes > static_cast<double>(charge.bytes())) charge.resize(static_cast<std::int64_t>(bytes));
}

// A row with the column that it is matched to, or two lines of a graph, is a pair, eliminated together; pairs
// are numbered in that order.
struct Front {
    std::int32_t first = 0, last = 0; // the pairs first .. last - 1 are eliminated in it
    std::vector<std::int32_t> rest;   // the later pairs that these touch, ascending
    std::int32_t parent = -1;         // the front that what is left is added to; -1: nothing is left
    std::int32_t children = 0;        // fronts whose parent this is: the last before it that have none yet

    std::size_t pivots() const { return static_cast<std::size_t>(last - first); }
    std::size_t size() const { return pivots() + rest.size(); }
    double products() const { // of pairs with pairs, that its elimination takes
        double sum = 0;
        for (std::size_t k = rest.size(); k < size(); ++k) sum += static_cast<double>(k * k);
        return sum;
    }
};

class Fronts {
  public:
    struct Entry {
        std::int64_t entry;    // of the pattern
        std::int32_t row, col; // its pairs; of a graph its lines, 2p and 2p + 1 being those of pair p
    };

    Fronts() = default;
    // The matching is perfect; of a graph it uses no loop.
    Fronts(const Pattern &a, const Matching &matching);

    const std::vector<Front> &all() const { return fronts_; } // children before their parents
    std::span<const Entry> entries(std::size_t front) const {
        return std::span(entries_).subspan(first_entry_[front],
                                           first_entry_[front + 1] - first_entry_[front]);
    }
    // of(front) for each in its turn, which returns how many products of numbers that took; done(products),
    // now and then.
    template <class Of, class Done> void each(const Of &of, const Done &done) const {
        constexpr double often = 1e5;
        double products = 0;
        for (std::size_t f = 0; f < fronts_.size(); ++f) {
            products += of(f);
            if (products < often && f + 1 < fronts_.size()) continue;
            done(products);
            products = 0;
        }
    }
    bool are_of_graph() const { return lines_of_pair_ == 2; }
    std::size_t pairs() const { return fronts_.empty() ? 0 : static_cast<std::size_t>(fronts_.back().last); }
    double products() const { return products_; } // of numbers, that all take
    double peak() const { return peak_; }         // numbers that are held at once
    std::int64_t bytes() const;

  private:
    void sort_entries();
    void count();

    std::vector<Front> fronts_;
    std::vector<Entry> entries_; // by front
    std::vector<std::size_t> first_entry_;
    std::int32_t lines_of_pair_ = 1;
    double products_ = 0, peak_ = 0;
};

} // namespace libperm
