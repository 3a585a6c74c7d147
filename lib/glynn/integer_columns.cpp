#include "lib/glynn/integer_columns.hpp"

#include "lib/number/bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace libperm {
namespace {

constexpr int most_digits = 40; // of a double that counts as short
constexpr int most_bits = 61;   // of an integer made of one
constexpr int most_unit_exponent = 900;

// The exponents of a row's bits: from the last one of any entry to beyond the first.
struct Span {
    int low = 2000, high = -2000;
};
using Spans = std::array<Span, most_small_order>;

std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }

// False if one has too many bits, or is subnormal.
bool span(const SmallMatrix &a, const SmallColumns<double> &part, Spans &spans) {
    for (int j = 0; j < a.order; ++j)
        for (int i = 0; i < a.order; ++i) {
            const std::uint64_t word = bits_of(part[a.at(i, j)]) << 1 >> 1;
            if (word == 0) continue;
            const auto exponent = static_cast<int>(word >> 52);
            const int zeros = std::countr_zero(word | std::uint64_t{1} << 52);
            if (exponent == 0 || zeros < 53 - most_digits) return false;
            Span &row = spans[static_cast<std::size_t>(i)];
            row.low = std::min(row.low, exponent - 1075 + zeros);
            row.high = std::max(row.high, exponent - 1022);
        }
    return true;
}

void multiply(const SmallMatrix &a, const SmallColumns<double> &part,
              const std::array<double, most_small_order> &by, SmallColumns<std::int64_t> &out) {
    for (int j = 0; j < a.order; ++j)
        for (int i = 0; i < a.order; ++i)
            out[a.at(i, j)] = static_cast<std::int64_t>(part[a.at(i, j)] * by[static_cast<std::size_t>(i)]);
}

bool from_doubles(const SmallMatrix &a, IntegerColumns &out) {
    Spans spans;
    if (!span(a, a.re, spans) || (a.is_complex && !span(a, a.im, spans))) return false;
    std::array<double, most_small_order> scale{};
    for (int i = 0; i < a.order; ++i) {
        const Span &row = spans[static_cast<std::size_t>(i)];
        const int unit = row.high < row.low ? 0 : row.low;
        if (row.high - unit > most_bits || std::abs(unit) > most_unit_exponent) return false;
        scale[static_cast<std::size_t>(i)] = power_of_two(-unit);
        out.exp2 += unit;
    }
    multiply(a, a.re, scale, out.re);
    if (a.is_complex) multiply(a, a.im, scale, out.im);
    return true;
}

double size(std::int64_t x) { return std::fabs(static_cast<double>(x)); }

} // namespace

bool make_integer(const SmallMatrix &a, IntegerColumns &out) {
    if (a.is_integer)
        std::copy_n(a.integers.begin(), a.size(), out.re.begin());
    else if (!from_doubles(a, out))
        return false;
    out.bound = out.product = 1 + 0x1p-40;
    double most_sum = 0;
    for (int i = 0; i < a.order; ++i) {
        double largest = 0, sum = 0;
        for (int j = 0; j < a.order; ++j) {
            const std::size_t k = a.at(i, j);
            const double x = size(out.re[k]) + (a.is_complex ? size(out.im[k]) : 0);
            largest = std::max(largest, x);
            sum += x;
        }
        out.bound *= largest * (i < a.given ? i + 1 : 1);
        out.product *= sum;
        most_sum = std::max(most_sum, sum);
    }
    out.sums_fit = most_sum < 0x1p62;
    return true;
}

} // namespace libperm
