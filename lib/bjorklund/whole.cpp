#include "lib/bjorklund/whole.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace libperm {
namespace {

constexpr int digits = std::numeric_limits<double>::digits;

std::int64_t lowest_bit(double x) { // not of 0
    int exponent = 0;
    const double mantissa = std::frexp(std::fabs(x), &exponent);
    const auto bits = static_cast<std::uint64_t>(std::ldexp(mantissa, digits));
    return exponent - digits + std::countr_zero(bits);
}
std::int64_t lowest_bit(const Tracked &x) { return x.exp2 + lowest_bit(x.value); }
std::int64_t lowest_bit(const std::complex<double> &x) {
    if (x.imag() == 0) return lowest_bit(x.real());
    return x.real() == 0 ? lowest_bit(x.imag()) : std::min(lowest_bit(x.real()), lowest_bit(x.imag()));
}

bool is_rounded(const Tracked &x) { return x.roundings > 0; }
bool is_rounded(const std::complex<double> &) { return false; }
bool is_zero(const std::complex<double> &x) { return x == 0.0; }

// Line i has 2^t_i, an edge both of its lines', a loop that of its line: the exponent of the hafnian's unit.
// None: an entry is rounded.
template <class Value> std::optional<std::int64_t> log2_unit(const BlockOf<Value> &graph) {
    constexpr std::int64_t far = std::int64_t{1} << 40;
    std::vector<std::int64_t> of_line(at(graph.n()), far);
    const auto lower = [&](std::int32_t line, std::int64_t to) {
        of_line[at(line)] = std::min(of_line[at(line)], to);
    };
    std::size_t k = 0;
    for (std::int32_t i = 0; i < graph.n(); ++i)
        for (const std::int32_t j : graph.pattern.row(i)) {
            const Value &x = graph.values[k++];
            if (is_rounded(x)) return {};
            if (is_zero(x)) continue;
            const std::int64_t bit = lowest_bit(x);
            lower(i, i == j ? bit : bit >> 1);
            lower(j, i == j ? bit : bit >> 1);
        }
    std::int64_t unit = 0;
    for (const std::int64_t t : of_line) unit += t;
    return unit;
}

// The error is below half a unit.
std::optional<Scaled> multiple_of(std::int64_t unit, const Scaled &near) {
    if (near.mantissa == 0 || near.exp2 < unit - 1) return Scaled();
    if (near.exp2 - unit > digits) return {};
    return make_scaled(std::nearbyint(std::ldexp(near.mantissa, static_cast<int>(near.exp2 - unit))), unit);
}

} // namespace

Ball to_the_only_multiple(const Ball &haf, const Block &graph) {
    if (haf.error.mantissa == 0) return haf;
    const std::optional<std::int64_t> unit = log2_unit(graph);
    if (!unit || haf.error.exp2 >= *unit) return haf;
    const std::optional<Scaled> value = multiple_of(*unit, haf.value);
    return value ? Ball{*value, {}} : haf;
}

DoublesHafnian to_the_only_multiple(const DoublesHafnian &haf, const DoublesGraph &graph) {
    if (haf.error.mantissa == 0) return haf;
    const std::optional<std::int64_t> unit = log2_unit(graph);
    if (!unit || haf.error.exp2 >= *unit) return haf;
    const std::optional<Scaled> re = multiple_of(*unit, haf.re), im = multiple_of(*unit, haf.im);
    return re && im ? DoublesHafnian{*re, *im, {}} : haf;
}

} // namespace libperm
