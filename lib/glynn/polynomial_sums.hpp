// The coefficients of a dense matrix's permanent whose entries are c + l x, by one sum over signs, or counts
// of repeated columns, in pieces.
#pragma once

#include "jit/lanes/polynomial_sum.hpp"
#include "lib/glynn/grid_matrix.hpp"
#include "lib/number/scaled.hpp"
#include "lib/run/call.hpp"
#include "lib/run/numbered_sum.hpp"

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace libperm {

constexpr int most_polynomial_rows = most_summed_kinds / 2;

// What a matrix looks like: kinds of rows and columns, each so often, in all as many of both.
struct PolynomialShape {
    std::vector<int> row_count, column_count;
    int degree = 0;
    bool is_complex = false, dd = false; // dd: computed in double-doubles
};

class PolynomialSums {
  public:
    using Entry = std::function<std::complex<double>(int i, int j)>;

    // The sums are made in 2^exp2 x, where C and L are about equal. Null where entries lie too far apart for
    // row sums that round nothing, or there are too many lines.
    static std::unique_ptr<const PolynomialSums> of(const PolynomialShape &shape, const Entry &constant,
                                                    const Entry &linear, std::int64_t exp2);

    NumberedPieces pieces() const;
    LineSums no_sums() const { return {shape_.degree + 1, 1, shape_.is_complex}; }
    LineSums piece(NumberRange steps) const;
    double seconds() const; // on one thread
    double terms() const { return static_cast<double>(count_steps(view().columns)) * low_lanes(); }

    // The coefficient of x^k, each part as what it is and what that has lost, and how far their sums can be
    // from it.
    struct Coefficient {
        Scaled re, re_rest, im, im_rest, error;
    };
    Coefficient coefficient(const LineSums &sums, int k) const;

  private:
    PolynomialSums(PolynomialShape shape, std::int64_t exp2);
    LinearColumns view() const;
    double low_lanes() const { return low_kinds(view().columns).lanes; }
    bool fix(const Entry &constant, const Entry &linear);

    const PolynomialShape shape_;
    const std::int64_t exp2_;
    GridMatrix lines_; // of C, and of L below
    std::vector<double> scale_;
    std::int64_t exp2_of_all_ = 0;
};

} // namespace libperm
