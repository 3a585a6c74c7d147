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

std::int64_t lowest_bit(const Tracked &x) { // not of 0
    int exponent = 0;
    const double mantissa = std::frexp(std::fabs(x.value), &exponent);
    const auto bits = static_cast<std::uint64_t>(std::ldexp(mantissa, digits));
    return x.exp2 + exponent - digits + std::countr_zero(bits);
}

// Line i has 2^t_i, an edge both of its lines', a loop that of its line: the exponent of the hafnian's unit.
// None: an entry is rounded.
std::optional<std::int64_t> log2_unit(const Block &graph) {
    constexpr std::int64_t far = std::int64_t{1} << 40;
    std::vector<std::int64_t> of_line(at(graph.n()), far);
    const auto lower = [&](std::int32_t line, std::int64_t to) {
        of_line[at(line)] = std::min(of_line[at(line)], to);
    };
    std::size_t k = 0;
    for (std::int32_t i = 0; i < graph.n(); ++i)
        for (const std::int32_t j : graph.pattern.row(i)) {
            const Tracked &x = graph.values[k++];
            if (x.roundings > 0) return {};
            if (is_zero(x)) continue;
            const std::int64_t bit = lowest_bit(x);
            lower(i, i == j ? bit : bit >> 1);
            lower(j, i == j ? bit : bit >> 1);
        }
    std::int64_t unit = 0;
    for (const std::int64_t t : of_line) unit += t;
    return unit;
}

} // namespace

Ball to_the_only_multiple(const Ball &haf, const Block &graph) {
    if (haf.error.mantissa == 0) return haf;
    const std::optional<std::int64_t> unit = log2_unit(graph);
    if (!unit || haf.error.exp2 >= *unit || haf.value.exp2 - *unit > digits) return haf;
    if (haf.value.mantissa == 0 || haf.value.exp2 < *unit - 1) return {{}, {}};
    const double multiple =
        std::nearbyint(std::ldexp(haf.value.mantissa, static_cast<int>(haf.value.exp2 - *unit)));
    return {make_scaled(multiple, *unit), {}};
}

} // namespace libperm
