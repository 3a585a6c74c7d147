#include "lib/number/scaled_rows.hpp"

#include "lib/number/bits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace libperm {
namespace {

double times_power(double x, std::int64_t exp2) {
    if (std::abs(exp2) < 1000) return x * power_of_two(static_cast<int>(exp2)); // sooner
    return std::ldexp(x, ldexp_exponent(exp2));
}

} // namespace

double ScaledRow::value(const Tracked &x) const {
    return x.value == 0 ? 0 : times_power(x.value, x.exp2 - exp2);
}

ScaledRow scaled_row(const Block &block, std::int32_t i) {
    const auto begin = static_cast<std::size_t>(block.pattern.row_begin(i));
    const std::span<const Tracked> entries(block.values.data() + begin, block.pattern.row(i).size());
    std::int64_t top = std::numeric_limits<std::int64_t>::min(); // every entry is below 2^top
    for (const Tracked &x : entries) {
        if (x.value == 0) continue; // else it may be far below its magnitude
        int exponent = 0;
        std::frexp(x.value, &exponent);
        top = std::max(top, x.exp2 + exponent);
    }
    ScaledRow row;
    double absolute = 0;
    for (const Tracked &x : entries)
        if (x.value != 0) absolute += std::fabs(times_power(x.value, x.exp2 - top));
    if (absolute == 0) top = 0;
    int exponent = 0;
    row.absolute = std::frexp(absolute, &exponent);
    row.exp2 = top + exponent;
    for (const Tracked &x : entries)
        if (x.value != 0)
            row.unit = std::min(row.unit, unit_exponent(x.value) + ldexp_exponent(x.exp2 - row.exp2) - 1);
    return row;
}

ScaledRows scaled_rows(const Block &block) {
    ScaledRows rows;
    rows.value.reserve(block.values.size());
    for (std::int32_t i = 0; i < block.n(); ++i) {
        const ScaledRow row = scaled_row(block, i);
        rows.exp2 += row.exp2;
        for (std::size_t left = block.pattern.row(i).size(); left > 0; --left)
            rows.value.push_back(row.value(block.values[rows.value.size()]));
        rows.absolute.push_back(row.absolute);
        rows.unit.push_back(row.unit);
    }
    return rows;
}

} // namespace libperm
