// A sum of binary logarithms, with all that its roundings can come to.
#pragma once

#include "lib/number/scaled.hpp"

#include <cmath>
#include <cstdint>

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

} // namespace libperm
