// A small matrix as sums over signs and counts take it, and what these come to, for one line or for many at
// once.
#pragma once

#include "jit/number/arithmetic.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace libperm {

// Row i's entry in column j stands at [j * stride + i], from 0 up to stride - 1, a multiple of 4. All sums
// that are made of a row's entries must be doubles, in each of these arrays by itself.
struct GridColumns {
    int stride = 0;
    const double *re = nullptr, *im = nullptr;         // im: null of real numbers
    const double *re_low = nullptr, *im_low = nullptr; // to be added to the sums of the others; null: zeros

    bool is_complex() const { return im != nullptr; }
    bool is_split() const { return re_low != nullptr; }
    Arithmetic arithmetic() const {
        if (is_split()) return is_complex() ? Arithmetic::complex_two_grids : Arithmetic::two_grids;
        return is_complex() ? Arithmetic::complex : Arithmetic::real;
    }
    // Those that there are: a part's low one after it.
    void list(const double **arrays) const {
        for (const double *array : {re, re_low, im, im_low})
            if (array) *arrays++ = array;
    }
};

// The sums of the terms, and what adding them up has lost; the sum of the terms' absolute values (complex: of
// |re| + |im|).
struct TermSum {
    double re = 0, re_rest = 0, im = 0, im_rest = 0, mass = 0;
};

// A table of `columns` by `rows` sums, one row's beside each other's.
class LineSums {
  public:
    LineSums(int rows, int columns, bool is_complex)
        : stride_((static_cast<std::size_t>(rows) + 7) / 8 * 8),
          parts_(is_complex ? 2 : 1),
          columns_(static_cast<std::size_t>(columns)),
          sums_(columns_ * parts_ * 2 * stride_, 0.0),
          mass_(stride_, 0.0) {}

    // Of part 0, the real one, or 1; of column j, by rows: the sums, and behind them what they have lost.
    double *sums(int part, int j) { return sums_.data() + place(part, j); }
    double *rests(int part, int j) { return sums(part, j) + stride_; }
    double *mass() { return mass_.data(); } // of each row, whatever the column: sums of absolute values

    TermSum sum(int i, int j) const {
        const auto get = [&](int part, std::size_t further) {
            return sums_[place(part, j) + further + static_cast<std::size_t>(i)];
        };
        TermSum sum{get(0, 0), get(0, stride_), 0, 0, 0};
        if (parts_ == 2) {
            sum.im = get(1, 0);
            sum.im_rest = get(1, stride_);
        }
        sum.mass = mass_[static_cast<std::size_t>(i)];
        return sum;
    }

    TermSum whole; // the terms with no factor left out

    // The tables as they lie: the sums with what they have lost, and the absolute values.
    std::span<double> all_sums() { return sums_; }
    std::span<double> all_masses() { return mass_; }
    std::int64_t bytes() const {
        return static_cast<std::int64_t>((sums_.size() + mass_.size()) * sizeof(double));
    }

    void add(const LineSums &other) {
        for (std::size_t k = 0; k < sums_.size(); k += 2 * stride_)
            for (std::size_t i = k; i < k + stride_; ++i) {
                const double a = sums_[i], b = other.sums_[i], s = a + b, part = s - a;
                sums_[i] = s;
                sums_[i + stride_] += ((a - (s - part)) + (b - part)) + other.sums_[i + stride_];
            }
        for (std::size_t i = 0; i < stride_; ++i) mass_[i] += other.mass_[i];
    }

  private:
    std::size_t place(int part, int j) const {
        return (static_cast<std::size_t>(j) * parts_ + static_cast<std::size_t>(part)) * 2 * stride_;
    }

    std::size_t stride_, parts_, columns_;
    std::vector<double> sums_, mass_;
};

} // namespace libperm
