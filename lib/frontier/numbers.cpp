#include "lib/frontier/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace libperm {

FrontierLedger::FrontierLedger(const Block &block, bool exponents)
    : block_(&block),
      exponents_(exponents),
      of_entries_(most_roundings(block)),
      roundings_(of_entries_),
      exact_(!exponents) {}

FrontierLedger::FrontierLedger(const WideEntries &entries, bool exponents)
    : block_(&entries.magnitudes),
      wide_(&entries),
      exponents_(exponents),
      arithmetic_(entries.arithmetic),
      exp2_(-entries.exp2),
      exact_(false) {}

// Of a coefficient: none overflows; nor does, of several doubles, the product with a state.
int FrontierLedger::most_exponent() const { return wide_ ? 700 : 1000; }

// 1 where none is used.
const Tracked &FrontierLedger::entry_of(const FrontierTerm &t) const {
    static const Tracked one{.value = 0.5, .magnitude = 0.5, .exp2 = 1};
    return t.entry < 0 ? one : block_->values[static_cast<std::size_t>(t.entry)];
}

Coefficient FrontierLedger::coefficient(const FrontierTerm &t, int scale) const {
    const Tracked &x = entry_of(t);
    Coefficient c{{x.value}, std::ldexp(x.magnitude, scale)};
    if (wide_ && t.entry >= 0) c.value = wide_->parts[static_cast<std::size_t>(t.entry)];
    for (double &part : c.value) part = std::ldexp(part, scale);
    return c;
}

// What an exponent cuts off, 2^-500 of a number, counts as one more rounding.
void FrontierLedger::begin_ranged_step(const FrontierStep &step) {
    bool copies = false;
    for (const FrontierTerm &t : step.terms) {
        coefficients_.push_back(coefficient(t, 0));
        coefficients_.back().exp2 = entry_of(t).exp2;
        copies = copies || t.multiplicity > 1;
    }
    const double product = product_roundings(arithmetic_) + 1;
    roundings_ += (wide_ ? 1 : 0) + (copies ? 2 : 1) * product;
}

const std::vector<Coefficient> &FrontierLedger::begin_step(const FrontierStep &step) {
    if (exponents_) {
        coefficients_.clear();
        begin_ranged_step(step);
        return coefficients_;
    }
    constexpr double least = std::numeric_limits<double>::denorm_min();
    coefficients_.clear();
    double row_sum = 0;
    double smallest = std::numeric_limits<double>::infinity();
    double roundings = 0, most_copies = 1;
    int unit = 5000;
    for (const FrontierTerm &t : step.terms)
        if (const Tracked &x = entry_of(t); !is_zero(x))
            shift_ = std::max(shift_, ldexp_exponent(std::ilogb(x.magnitude) + x.exp2 - most_exponent()));
    for (const FrontierTerm &t : step.terms) {
        const Tracked &entry = entry_of(t);
        coefficients_.emplace_back();
        if (is_zero(entry)) continue;
        const int scale = ldexp_exponent(entry.exp2 - shift_);
        const Coefficient &x = coefficients_.back() = coefficient(t, scale);
        // Of m equal columns, up to m are free: an integer factor, of 1 or 2 if m <= 2. If it is rounded to
        // its product with the entry, that is no multiple of the unit below 2^53: end_step will see.
        row_sum += std::max(x.magnitude, least) * std::max(1, t.multiplicity);
        most_copies = std::max<double>(most_copies, t.multiplicity);
        const double product = product_roundings(arithmetic_);
        const double copying = t.multiplicity <= 2 ? 0 : product;
        if (wide_) { // no part's underflow counts where the magnitude is far from it
            smallest = std::min(smallest, x.magnitude);
            roundings = std::max(roundings, 1 + product + copying);
            continue;
        }
        const double value = x.value.front();
        smallest = std::min(smallest, value != 0 ? std::fabs(value) : x.magnitude);
        const bool power = is_power_of_two(entry.value) && is_power_of_two(entry.magnitude);
        roundings = std::max(roundings, (power ? 0 : product) + copying);
        if (entry.value != 0) unit = std::min(unit, unit_exponent(entry.value) + scale);
        exact_ = exact_ && entry.roundings == 0;
    }
    exp2_ += shift_;
    shift_ = 0;
    // What underflow did before grows with the row sum; end_step adds what it can do in this row.
    const double normal = wide_ ? 0x1p-700 : 0x1p-1021;
    underflows_ = smallest < normal || smallest * extent_.smallest < normal || (wide_ && underflow_ > 0);
    if (underflow_ > 0) underflow_ = std::max(underflow_ * row_sum, least); // it must not underflow itself
    roundings_ += roundings;
    most_copies_ = most_copies;
    exact_ = exact_ && unit > -1000; // an entry further down may have lost bits to underflow
    unit_ += unit;
    return coefficients_;
}

// What the next row would have applied to its entries is applied to the states. Returns by what power of 2
// they change.
int FrontierLedger::apply_shift(double states) {
    const int by = -std::exchange(shift_, 0);
    extent_ = {std::ldexp(extent_.largest, by), std::ldexp(extent_.smallest, by)};
    if (underflow_ > 0) // it must not underflow itself
        underflow_ = std::max(std::ldexp(underflow_, by), std::numeric_limits<double>::denorm_min());
    if (by < 0 && extent_.smallest < (wide_ ? 0x1p-700 : 0x1p-1021))
        underflow_ += states * (wide_ ? 0x1p-1068 : 0x1p-1073);
    exp2_ -= by;
    unit_ += by;
    return by;
}

// A product of sums of terms is a sum of products, each with the roundings of both. With D, E the errors that
// underflow made in the lists x, y, summed, sum |x y - x' y'| <= D sum |y| + E sum |x| + D E.
JoinScales FrontierLedger::begin_join(const FrontierLedger &other, double states, double other_states) {
    // What the whole matrix begins with counts in both.
    roundings_ += other.roundings_ - of_entries_ + product_roundings(arithmetic_) + (exponents_ ? 1 : 0);
    exp2_ += wide_ ? wide_->exp2 : 0;
    if (exponents_) {
        exp2_ += other.exp2_;
        return {0, 0};
    }
    FrontierLedger with = other;
    const JoinScales scales{apply_shift(states), with.apply_shift(other_states)};
    exp2_ += with.exp2_;
    const double both = underflow_ + with.underflow_;
    underflows_ =
        extent_.smallest * with.extent_.smallest < (wide_ ? 0x1p-700 : 0x1p-1021) || (wide_ && both > 0);
    if (both > 0) {
        constexpr double over = 1 + 0x1p-40; // the sum's own roundings
        const double error = underflow_ * other_states * with.extent_.largest +
                             with.underflow_ * states * extent_.largest + underflow_ * with.underflow_;
        // What overflowed, times a list of zeros, is no number.
        underflow_ = std::isnan(error) ? std::numeric_limits<double>::infinity()
                                       : std::max(over * error, std::numeric_limits<double>::denorm_min());
    }
    extent_.largest *= std::max(1.0, with.extent_.largest);
    most_copies_ = 1;
    exact_ = exact_ && with.exact_;
    unit_ += with.unit_;
    return scales;
}

void FrontierLedger::end_step(double additions, double expansions, const Extent &extent) {
    roundings_ += additions;
    if (exponents_) {
        roundings_ += additions; // and as often something is cut off
        return;
    }
    // At most 2^-1074 for each product, and for its entry, times the state and the free copies of the column;
    // of several doubles, for each of up to 16 operations.
    const double least = wide_ ? 0x1p-1068 : 0x1p-1073;
    if (underflows_) underflow_ += (expansions + 1) * least * (1 + most_copies_ * extent_.largest);
    extent_ = extent;
    const double largest = extent.largest;
    // Every partial sum is a multiple of 2^unit_ no larger than the largest magnitude. Below 2^53, not at it:
    // what was rounded down to 2^53 would look like it.
    exact_ =
        exact_ && unit_ > -1000 && unit_ < 1000 && std::ldexp(largest, static_cast<int>(-unit_)) < 0x1p53;
    // Applied to the next row's entries, and so to their unit as well.
    if (largest > 0x1p200 || (largest < 0x1p-200 && largest > 0)) std::frexp(largest, &shift_);
}

EngineResult FrontierLedger::close(const PackedParts &value, double magnitude, std::int64_t exp2) const {
    // What underflow took is missing from the sum of absolute values too.
    const double error =
        exact_ ? 0 : rounding_error(roundings_, unit_of(arithmetic_), magnitude + underflow_) + underflow_;
    if (wide_) return {ball_within(unpacked(value, arithmetic_), error, exp2_ + exp2), {}};
    return {ball_within(value.front(), error, exp2_ + exp2), {}};
}

bool FrontierLedger::has_underflowed(double magnitude) const {
    const double rounded = gamma_bound(roundings_, unit_of(arithmetic_)) * magnitude;
    return !exact_ && underflow_ > 0 && !(underflow_ <= rounded);
}

} // namespace libperm
