// A dense matrix of any order on two grids, so that sums of a row's entries with signs are exact, whatever
// stands in it: rows of zeros too (docs/accuracy.md, "Minors").
#pragma once

#include "jit/lanes/count_sum.hpp"
#include "lib/base/aligned_doubles.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

class GridMatrix {
  public:
    // Begins with zeros; row i counts row_count[i] times, column j column_count[j] times, once at least.
    GridMatrix(std::vector<int> row_count, std::vector<int> column_count, bool is_complex);

    void set(int i, int j, double re, double im = 0) {
        re_[place(i, j)] = re;
        if (is_complex_) im_[place(i, j)] = im;
    }
    // Entries were rounded before they came.
    void tell_rounded() { is_rounded_ = true; }

    // After the last `set`. False if an entry is not finite.
    bool fix();
    bool is_moved() const { return is_moved_; } // some entry, off the two grids

    CountedColumns view() const;

    // The powers of two that the lines were divided by: of all copies together, and of one.
    std::int64_t exp2() const { return exp2_; }
    std::int64_t row_exp2(int i) const { return row_exp2_[static_cast<std::size_t>(i)]; }
    std::int64_t column_exp2(int j) const { return column_exp2_[static_cast<std::size_t>(j)]; }

    int columns_in_all() const { return total_columns_; }
    int rows_in_all() const { return total_rows_; }

    // How far the permanent can be from that of the entries that were given, without one copy of row i (-1:
    // of a square matrix, with all): of the entries on their grids, but for a column that is left out too.
    double moved_without(int i) const;

    // Every product of an entry of each of these rows is a multiple of 2 to this; none: of no use.
    static constexpr int no_unit = -100000;
    int unit_without(int i) const;

  private:
    std::size_t place(int i, int j) const {
        return static_cast<std::size_t>(j) * static_cast<std::size_t>(stride_) + static_cast<std::size_t>(i);
    }
    bool prescale(const double *largest_of_row);
    void find_sizes();
    void find_units();

    std::vector<int> row_count_, column_count_;
    int rows_, columns_, stride_, total_rows_ = 0, total_columns_ = 0;
    bool is_complex_, is_split_ = false, is_moved_ = false, is_rounded_ = false;
    AlignedDoubles space_;
    double *re_, *im_, *re_low_, *im_low_;
    std::vector<std::int64_t> row_exp2_, column_exp2_;
    std::int64_t exp2_ = 0;
    std::vector<double> size_; // of each row, where something was moved: its sum of absolute values
    std::vector<int> units_;
};

} // namespace libperm
