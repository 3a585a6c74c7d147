// Glynn's estimator (The permanent of a square matrix, European J. Combin. 31 (2010); Gurvits, On the
// complexity of mixed discriminants and related problems, MFCS 2005): for signs x drawn at random, prod_j x_j
// prod_i sum_j a_ij x_j has the mean perm(A), and is at most the product of the rows' sums of absolute
// values, and at most (the largest singular value)^n, as |A x|^2 <= n (that)^2. Rows and columns are scaled
// so that all have about one norm, where the second bound is least.
#pragma once

#include "lib/estimates/sample_pieces.hpp"
#include "preprocess/pattern.hpp"

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

namespace libperm {

class GlynnSampler {
  public:
    static constexpr std::int64_t chunk_samples = 256;

    enum Sums { re, im, re_squares, im_squares, all_sums }; // of samples, as shares of the bound

    // Not of a matrix that has no perfect matching. off: how far each entry may be from the truth.
    GlynnSampler(Pattern a, std::vector<std::complex<double>> entries, std::vector<double> off);

    // Of chunk `number`, always the same ones.
    SampleSums draw(std::uint64_t seed, std::uint64_t number) const;

    double log_bound() const { return log_bound_; } // of a sample's absolute value
    double rounding() const { return rounding_; }   // of a sample, as a share of the bound
    double seconds_of_chunk() const;
    std::int64_t bytes() const; // held
    std::string digest() const; // of all that samples follow from

  private:
    Pattern a_;
    std::vector<double> re_, im_; // scaled such that the bound is 1
    double log_bound_ = 0, rounding_ = 0;
};

} // namespace libperm
