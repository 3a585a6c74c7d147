#include "lib/frontier_ledger.hpp"

#include "lib/bits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libperm {

FrontierLedger::FrontierLedger(const Pattern &a, std::span<const double> values)
    : row_of_(values.size()),
      a_(a),
      values_(values),
      scaling_(power_scaling(a, values)),
      exp2_(-scaling_.total) {
    for (std::int32_t i = 0; i < a.rows; ++i) {
        const auto begin = static_cast<std::size_t>(a.row_begin(i));
        std::fill_n(row_of_.begin() + static_cast<std::ptrdiff_t>(begin), a.row(i).size(), i);
    }
}

const std::vector<double> &FrontierLedger::begin_step(const FrontierStep &step) {
    coefficients_.clear();
    double row_sum = 0;
    double smallest = std::numeric_limits<double>::infinity();
    bool powers = true;
    int unit = 5000;
    for (const FrontierTerm &t : step.terms) {
        const auto k = static_cast<std::size_t>(t.entry);
        const int scale = ldexp_exponent(scaling_.row[static_cast<std::size_t>(row_of_[k])] +
                                         scaling_.col[static_cast<std::size_t>(a_.col[k])] - shift_);
        const double x = std::ldexp(values_[k], scale);
        coefficients_.push_back(x);
        if (values_[k] == 0) continue;
        row_sum += std::fabs(x);
        smallest = std::min(smallest, std::fabs(x));
        powers = powers && is_power_of_two(values_[k]);
        unit = std::min(unit, unit_exponent(values_[k]) + scale);
    }
    exp2_ += shift_;
    shift_ = 0;
    // What underflow did before grows with the row sum; end_step adds what it can do in this row.
    constexpr double normal = 0x1p-1021;
    underflows_ = smallest < normal || smallest * extent_.smallest < normal;
    underflow_ *= row_sum;
    if (!powers) roundings_ += 1;
    exact_ = exact_ && unit > -1000; // an entry further down may have lost bits to underflow
    unit_ += unit;
    return coefficients_;
}

void FrontierLedger::end_step(double additions, double expansions, const Extent &extent) {
    // At most 2^-1074 for each product, and for its entry, times the state.
    if (underflows_) underflow_ += (expansions + 1) * 0x1p-1073 * (1 + extent_.largest);
    roundings_ += additions;
    extent_ = extent;
    const double largest = extent.largest;
    // Every partial sum is a multiple of 2^unit_ no larger than the largest magnitude. Below 2^53, not at it:
    // what was rounded down to 2^53 would look like it.
    exact_ =
        exact_ && unit_ > -1000 && unit_ < 1000 && std::ldexp(largest, static_cast<int>(-unit_)) < 0x1p53;
    // Applied to the next row's entries, and so to their unit as well.
    if (largest > 0x1p200 || (largest < 0x1p-200 && largest > 0)) std::frexp(largest, &shift_);
}

void FrontierLedger::close(double value, double magnitude, Outcome &outcome) const {
    // True sum of absolute values <= (computed + underflow) / (1 - gamma).
    const double gamma = gamma_bound(roundings_);
    double error = std::numeric_limits<double>::infinity();
    if (exact_)
        error = 0;
    else if (gamma < 0.5)
        error = gamma * (magnitude + underflow_) / (1 - gamma) + underflow_;
    set_value(outcome, value, error, exp2_);
}

} // namespace libperm
