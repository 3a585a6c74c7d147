#include "lib/glynn/grid_matrix.hpp"

#include "jit/lanes/sign_sum.hpp"
#include "lib/number/doubles.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

constexpr int alike = 20; // bits that columns may differ by, and be left as they are

int exponent_of(double x) { return x == 0 ? 0 : std::ilogb(x) + 1; }

} // namespace

GridMatrix::GridMatrix(std::vector<int> row_count, std::vector<int> column_count, bool is_complex)
    : row_count_(std::move(row_count)),
      column_count_(std::move(column_count)),
      rows_(static_cast<int>(row_count_.size())),
      columns_(static_cast<int>(column_count_.size())),
      stride_((rows_ + 3) / 4 * 4),
      total_rows_(std::accumulate(row_count_.begin(), row_count_.end(), 0)),
      total_columns_(std::accumulate(column_count_.begin(), column_count_.end(), 0)),
      is_complex_(is_complex),
      row_exp2_(row_count_.size(), 0),
      column_exp2_(column_count_.size(), 0) {
    const std::size_t size = place(0, columns_);
    space_ = aligned_doubles((is_complex ? 4 : 2) * size);
    re_ = space_.get();
    re_low_ = re_ + size;
    im_ = is_complex ? re_low_ + size : nullptr;
    im_low_ = is_complex ? im_ + size : nullptr;
    std::fill_n(re_, size, 0.0);
    if (is_complex) std::fill_n(im_, size, 0.0);
}

CountedColumns GridMatrix::view() const {
    GridColumns columns{stride_, re_, im_};
    if (is_split_) columns.re_low = re_low_;
    if (is_split_) columns.im_low = im_low_;
    return {columns, rows_, columns_, row_count_.data(), column_count_.data()};
}

bool GridMatrix::fix() {
    std::vector<double> room(at(stride_) + 8, 0.0);
    double *const scale =
        room.data() + (8 - reinterpret_cast<std::uintptr_t>(room.data()) / sizeof(double) % 8) % 8;
    const auto raise = [&] {
        std::fill_n(scale, stride_, 0.0);
        return raise_to_largest({stride_, re_, im_}, columns_, scale);
    };
    if (!raise()) return false;
    if (prescale(scale)) raise();
    const int spread = spread_of(total_columns_);
    for (int i = 0; i < rows_; ++i) {
        const int exponent = scale[i] == 0 ? 0 : exponent_of(scale[i]) + spread;
        row_exp2_[at(i)] += exponent;
        scale[i] = power_of_two(-exponent);
        exp2_ += row_count_[at(i)] * row_exp2_[at(i)];
    }
    for (int j = 0; j < columns_; ++j) exp2_ += column_count_[at(j)] * column_exp2_[at(j)];
    const SignCut all =
        cut_to_grids({stride_, re_, im_}, columns_, scale, spread, {re_, re_low_, im_, im_low_});
    is_split_ = all.splits;
    is_moved_ |= all.moves;
    if (is_moved_ || is_rounded_)
        find_sizes();
    else if (!is_split_)
        find_units();
    return true;
}

// Columns that are far from each other, and rows far from 1, are brought near. Whether there were any.
bool GridMatrix::prescale(const double *largest_of_row) {
    const auto largest = [this](int i, int j) {
        return std::max(std::fabs(re_[place(i, j)]), is_complex_ ? std::fabs(im_[place(i, j)]) : 0);
    };
    double most = 0, least = HUGE_VAL;
    std::vector<double> of_column(at(columns_), 0.0);
    for (int j = 0; j < columns_; ++j) {
        for (int i = 0; i < rows_; ++i) of_column[at(j)] = std::max(of_column[at(j)], largest(i, j));
        if (of_column[at(j)] == 0) continue;
        most = std::max(most, of_column[at(j)]);
        least = std::min(least, of_column[at(j)]);
    }
    const bool are_near = std::all_of(largest_of_row, largest_of_row + rows_,
                                      [](double x) { return std::abs(exponent_of(x)) < most_row_exponent; });
    if (most == 0 || (are_near && exponent_of(most) - exponent_of(least) <= alike)) return false;
    for (int j = 0; j < columns_; ++j) column_exp2_[at(j)] = exponent_of(of_column[at(j)]);
    for (int i = 0; i < rows_; ++i) {
        std::int64_t row = -4000;
        for (int j = 0; j < columns_; ++j)
            if (largest(i, j) != 0) row = std::max(row, exponent_of(largest(i, j)) - column_exp2_[at(j)]);
        if (row == -4000) continue;
        row_exp2_[at(i)] = row;
        for (int j = 0; j < columns_; ++j)
            for (double *part : {re_, im_}) {
                if (!part || part[place(i, j)] == 0) continue;
                double &x = part[place(i, j)];
                x = std::ldexp(x, static_cast<int>(-row - column_exp2_[at(j)]));
                is_moved_ |= std::fabs(x) < 0x1p-1000; // perhaps
            }
    }
    return true;
}

void GridMatrix::find_sizes() {
    size_.assign(at(rows_), 0.0);
    for (int j = 0; j < columns_; ++j)
        for (int i = 0; i < rows_; ++i)
            size_[at(i)] += column_count_[at(j)] *
                            (std::fabs(re_[place(i, j)]) + (is_complex_ ? std::fabs(im_[place(i, j)]) : 0));
}

double GridMatrix::moved_without(int i) const {
    if (size_.empty()) return 0;
    const int n = total_columns_, spread = spread_of(n);
    const double by = n * 0x1p-52; // of a row's sum, more than its parts off the first grid
    const double entry = std::ldexp(is_complex_ ? 1.4143 : 1.0001, -spread);
    double by_sums = n, by_entries = 1;
    int left = 0;
    for (int k = 0; k < rows_; ++k)
        for (int copy = k == i ? 1 : 0; copy < row_count_[at(k)]; ++copy) {
            by_sums *= size_[at(k)] + by;
            by_entries *= ++left * entry;
        }
    const double of_grids = is_moved_ ? n * std::ldexp(1.5, 2 * spread - 107) : 0,
                 of_entries = is_rounded_ ? n * 0x1.8p-53 : 0;
    return (of_grids + of_entries) * std::min(by_sums, by_entries) * 1.001;
}

void GridMatrix::find_units() {
    for (int i = 0; i < rows_; ++i) {
        const int unit = unit_of_row({stride_, re_, im_}, columns_, i);
        units_.push_back(unit == unit_of_zeros ? 0 : unit);
    }
}

int GridMatrix::unit_without(int i) const {
    if (units_.empty()) return no_unit;
    int unit = i < 0 ? 0 : -units_[at(i)];
    for (int k = 0; k < rows_; ++k) unit += row_count_[at(k)] * units_[at(k)];
    return unit;
}

} // namespace libperm
