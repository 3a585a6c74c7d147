// A bound of the permanent that every step of drawing a matching keeps: what estimates rest on
// (docs/estimates.md).
//
// Columns are given to rows in an order t = 0, 1, ..., n - 1. For any divisors W_t > 0 and starts g_i(n) > 0
// let
//
//   g_i(t) = g_i(t+1) exp(a_it / (g_i(t+1) W_t))   and   U = prod_i g_i(0) prod_t W_t / e.
//
// Then perm(A) <= U, and a walk that gives column t to a row i that is left with probability in proportion to
// a_it / g_i(t+1) has a value between 0 and 1 whose mean is perm(A) / U: with y_t = sum of a_it / (g_i(t+1)
// W_t) over the rows left it is the product of y_t exp(1 - y_t). Huber's and Law's bound (Fast approximation
// of the permanent for very dense problems, SODA 2008) is about that with all W_t = e; here they are chosen
// so that U is least.
#pragma once

#include "jit/lanes/matching_walk.hpp"
#include "lib/number/doubles.hpp"
#include "preprocess/numbers.hpp"
#include "preprocess/pattern.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numbers>
#include <vector>

namespace libperm {

// A nonnegative square matrix; of each entry the natural logarithm.
struct LogMatrix {
    Pattern pattern;
    std::vector<double> log;

    std::int32_t n() const { return pattern.rows; }
};
LogMatrix transposed(const LogMatrix &a);

inline double log_of(const Tracked &x) {
    return std::log(x.value) + static_cast<double>(x.exp2) * std::numbers::ln2;
}

// Of the entries above 0: log(k), minus infinity or not a number: entry k is none.
template <class Log> LogMatrix log_matrix(const Pattern &a, const Log &log) {
    LogMatrix out;
    out.pattern.rows = a.rows;
    out.pattern.cols = a.cols;
    std::size_t k = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        for (const std::int32_t j : a.row(i))
            if (const double x = log(k++); x > -infinity) {
                out.pattern.col.push_back(j);
                out.log.push_back(x);
            }
        out.pattern.row_ptr.push_back(std::ssize(out.pattern.col));
    }
    return out;
}

class Potential {
  public:
    // Columns with few entries that count come first. Throws nothing but what polling does.
    explicit Potential(const LogMatrix &a);

    double log_bound() const { return log_bound_; }

    // log2 of a bound for certain, with all roundings; each entry's logarithm may be `share` of its size off.
    double log2_above(double share) const;

    // Tries other places for columns, so many times, or until as many entries as that have been gone through.
    void improve_order(int trials, double entries);

    std::vector<WalkStep> steps() const; // of entries that the potential keeps
    const std::vector<std::int32_t> &columns() const { return columns_; } // of the steps
    std::int32_t n() const { return static_cast<std::int32_t>(rows_.size()); }
    std::int64_t entries() const { return static_cast<std::int64_t>(step_row_.size()); }
    double largest_log() const; // of all that is computed with

    // Bytes that a matrix of so many entries takes, and those that a search for a better order takes beside
    // it.
    static std::int64_t bytes_for(std::int64_t entries, std::int32_t n) { return 40 * entries + 160 * n; }
    std::int64_t bytes_to_improve() const { return (most_tried_at_once + 1) * bytes_for(entries(), n()); }

  private:
    static constexpr int most_tried_at_once = 16; // moves of a column

    struct Entry {
        std::int32_t step;
        double log;
        double weight = 0; // a / (g W)
    };
    struct Passed {
        double log, excess, slope; // of g_i(0); of the largest weight, its logarithm, and what moves it
    };

    Passed pass(std::vector<Entry> &row, double start);
    double least(std::vector<Entry> &row);
    double bound();
    void descend(int turns);
    void arrange(); // the entries by steps
    void move(std::int32_t from, std::int32_t to);

    std::vector<std::vector<Entry>> rows_; // by steps
    std::vector<double> log_divisor_;      // of the steps
    std::vector<std::int32_t> columns_;
    double log_bound_ = 0;
    double passed_ = 0;                   // entries, so far
    std::uint64_t searches_ = 0;          // for orders, so far
    std::vector<std::size_t> step_begin_; // in those that follow
    std::vector<std::int32_t> step_row_;
    std::vector<double> step_weight_;
};

} // namespace libperm
