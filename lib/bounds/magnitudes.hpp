// A block as bounds take it, of each entry numbers that its absolute value lies between; and sums of their
// binary logarithms, with all that roundings can come to.
#pragma once

#include "lib/number/ball.hpp"
#include "lib/number/scaled.hpp"
#include "preprocess/block.hpp"
#include "preprocess/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace libperm {

// Twofold: a sum of n terms x errs by u |sum| + (n u)^2 sum |x| (Ogita, Rump and Oishi, Accurate sum and dot
// product, SIAM J. Sci. Comput. 26 (2005), Proposition 4.5), whatever cancels. The C library's logarithms are
// taken to be within two units of their last place (the GNU C library documents one).
class LogSum {
  public:
    static constexpr double log_share = 0x1p-51; // of a logarithm, that it may be off

    // |term - truth| <= error.
    void add(double term, double error = 0) {
        const double sum = sum_ + term, part = sum - sum_;
        rest_ += (sum_ - (sum - part)) + (term - part);
        sum_ = sum;
        error_ += error;
        mass_ += std::fabs(term);
        ++count_;
    }

    // weight * log2(x), x > 0 being known within `relative` of itself, a part in 2^20 at most.
    void add_log2(double x, double weight = 1, double relative = 0) {
        const double log = std::log2(x), term = weight * log;
        add(term, std::fabs(weight) * (1.5 * relative + 1.01 * log_share * std::fabs(log)) +
                      0x1p-53 * std::fabs(term));
    }

    double below() const { return value() - error(); }
    double above() const { return value() + error(); }

  private:
    double value() const { return sum_ + rest_; }
    double error() const { // and what subtracting it rounds
        const double gamma = (static_cast<double>(count_) + 2) * 0x1p-53;
        return (error_ + 0x1p-51 * std::fabs(value()) + 2 * gamma * gamma * mass_) * (1 + 0x1p-20);
    }

    double sum_ = 0, rest_ = 0, error_ = 0, mass_ = 0;
    std::int64_t count_ = 0;
};

// 2^(log2 + exp2), never above, never below it. Minus infinity: 0.
inline Scaled power_of_two_below(double log2, std::int64_t exp2) {
    if (!(log2 > -0x1p60)) return {};
    const double whole = std::floor(log2);
    return make_scaled(std::exp2(log2 - whole) * (1 - 0x1p-50), static_cast<std::int64_t>(whole) + exp2);
}
inline Scaled power_of_two_above(double log2, std::int64_t exp2) {
    if (log2 < -0x1p60) return {};
    const double whole = std::floor(log2);
    return make_scaled(std::exp2(log2 - whole) * (1 + 0x1p-50), static_cast<std::int64_t>(whole) + exp2);
}

// Two numbers that an entry's absolute value lies between. The value is given without its power of two
// (preprocess/numbers.hpp).
inline std::pair<double, double> range_of(const Tracked &x) {
    const double size = std::fabs(x.value);
    if (x.roundings == 0) return {size, size};
    const double gamma = gamma_bound(x.roundings), error = gamma / (1 - gamma) * x.magnitude * (1 + 0x1p-50);
    return {std::max(0.0, (size - error) * (1 - 0x1p-51)), (size + error) * (1 + 0x1p-51)};
}

// Where rows and columns can be given signs such that no entry is negative, |perm| is the permanent of the
// absolute values: then its sign, 1 or -1; else 0.
int sign_by_lines(const Block &block);

// A block as bounds take it: of each entry numbers that its absolute value lies between.

struct Magnitudes {
    Pattern pattern;
    std::vector<double> lower, upper; // by entry, times powers of two of its row and column; some may be 0
    std::int64_t exp2 = 0;            // |perm| is 2^exp2 times that of the entries as they are here

    // Rows and columns can be given signs such that no entry is negative: |perm| is the permanent of the
    // absolute values, and lower bounds are worth something.
    bool of_one_sign = false;
    // Else the entries themselves, in the same scale, each within radius() of the truth.
    std::vector<std::complex<double>> value;
    double radius(std::size_t entry) const { return upper[entry] - lower[entry] + 0x1p-48 * upper[entry]; }

    std::int32_t n() const { return pattern.rows; }
};

// Scales rows and columns by powers of two, so that no entry is far above 1 and no perfect matching's product
// lost. The permanent gains the factor 2^(what is returned).
std::int64_t scale_for_bounds(Block &block);

// Entries so small beside a perfect matching of entries near 1 count for nothing: 0 from below, this from
// above.
constexpr int least_exponent = -900;

// The block must have a perfect matching.
Magnitudes magnitudes_between(Block block);
Magnitudes magnitudes_between(const ExactBlock &block);

} // namespace libperm
