#include "lib/hermite/books.hpp"

#include "lib/number/bits.hpp"
#include "preprocess/index.hpp"
#include "preprocess/log_factorial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libperm {
namespace {

// Matchings of so many lines, each of which may stay single: about sqrt(n!) e^sqrt(n) (Chowla, Herstein and
// Moore, Canad. J. Math. 3 (1951)).
double bits_of_matchings(std::int64_t lines) {
    const auto n = static_cast<double>(lines);
    return (log_factorial(n) / 2 + std::sqrt(n)) / std::log(2.0);
}

// Of the entries in use: all are multiples of the unit, and below 2^top; of a loop those of its square.
struct Range {
    std::int64_t unit = std::numeric_limits<std::int64_t>::max(),
                 top = std::numeric_limits<std::int64_t>::min();
    bool is_exact = true, has_loops = false;
};

void widen(Range &range, const Tracked &x, bool is_loop) {
    range.is_exact = range.is_exact && x.roundings == 0;
    range.has_loops = range.has_loops || is_loop;
    if (x.magnitude != 0) range.top = std::max(range.top, x.exp2 * (is_loop ? 2 : 1));
    if (x.value != 0)
        range.unit = std::min(range.unit, (unit_exponent(x.value) + x.exp2) * (is_loop ? 2 : 1));
}

} // namespace

HermiteBooks::HermiteBooks(const HermitePlan &plan, const HermiteEntries &entries, bool exponents)
    : plan_(plan), entries_(entries), exponents_(exponents) {
    for (const EqualLines &kind : plan.kinds) lines_ += kind.count;
    if (!exponents) find_scale();
}

// Whole numbers, where their products stay in range whatever there is to be met; else numbers of about 1.
void HermiteBooks::find_scale() {
    Range range;
    for (const std::int64_t k : plan_.loops)
        if (k >= 0) widen(range, entries_.block.values[at(k)], true);
    for (const std::int64_t k : plan_.edges)
        if (k >= 0) widen(range, entries_.block.values[at(k)], false);
    if (range.unit > range.top) return; // all are 0
    const auto even = [&](std::int64_t x) { return range.has_loops && x % 2 != 0 ? x - 1 : x; };
    const std::int64_t unit = even(range.unit);
    const double most_bits =
        static_cast<double>(range.top - unit) * static_cast<double>(lines_) / 2 + bits_of_matchings(lines_);
    whole_ = !entries_.wide && range.is_exact && range.top - unit <= 53 && most_bits < 900;
    scale_ = whole_ ? unit : even(range.top);
}

HermiteBooks::Coefficient HermiteBooks::coefficient(std::int64_t entry, bool is_loop) {
    const Tracked &x = entries_.block.values[at(entry)];
    Coefficient c{{x.value}, x.magnitude, x.exp2};
    if (entries_.wide) c.value = entries_.wide->parts[at(entry)];
    if (exponents_) return c;
    const int scale = ldexp_exponent(x.exp2 - (is_loop ? scale_ / 2 : scale_));
    for (double &part : c.value) part = std::ldexp(part, scale);
    if (x.magnitude == 0) return c;
    c.magnitude = std::ldexp(x.magnitude, scale);
    coefficients_ = join(coefficients_, {c.magnitude, c.magnitude});
    return c;
}

// Far from both, so that what underflows in a product is less than a rounding of it.
bool HermiteBooks::holds(const Extent &extent) {
    if (exponents_) return true;
    met_ = join(met_, extent);
    const double largest = std::max(1.0, coefficients_.largest) * met_.largest;
    const double smallest = std::min(1.0, coefficients_.smallest) * met_.smallest;
    return whole_ || (largest < 0x1p800 && smallest > (entries_.wide ? 0x1p-600 : 0x1p-900));
}

// On the way of a term: each line that is taken is a product of its entry, which may have been rounded, and
// of a count; and each count of a kind's lines that are gone adds all that leads to it. One more for what
// underflows. With exponents of their own products and sums also cut something off.
double HermiteBooks::roundings() const {
    const double of_product = product_roundings(entries_.arithmetic()) + (exponents_ ? 1 : 0);
    double sum = most_roundings(entries_.block) + 1;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
        double additions = plan_.loops[i] >= 0;
        for (std::size_t j = i; j < plan_.size(); ++j) additions += plan_.edge(i, j) >= 0;
        sum += plan_.kinds[i].count *
               (2 * of_product + (entries_.wide ? 1 : 0) + additions * (exponents_ ? 2 : 1));
    }
    return sum;
}

EngineResult HermiteBooks::close(const PackedParts &value, double magnitude, std::int64_t exp2) const {
    const Arithmetic arithmetic = entries_.arithmetic();
    const bool is_exact = whole_ && met_.largest < 0x1p52;
    const double error = is_exact ? 0 : rounding_error(roundings(), unit_of(arithmetic), magnitude);
    // scale_ is even where there are loops, and the lines are where there are none.
    exp2 += scale_ % 2 == 0 ? scale_ / 2 * lines_ : lines_ / 2 * scale_;
    if (entries_.wide)
        return {ball_within(unpacked(value, arithmetic), error, exp2 - entries_.wide->exp2), {}};
    return {ball_within(value.front(), error, exp2), {}};
}

} // namespace libperm
