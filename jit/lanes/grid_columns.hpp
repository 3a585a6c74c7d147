// A small matrix as sums over signs and counts take it, and what these come to.
#pragma once

#include "jit/number/arithmetic.hpp"

#include <initializer_list>

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

} // namespace libperm
