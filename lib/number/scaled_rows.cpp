#include "lib/number/scaled_rows.hpp"

#include "lib/number/bits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libperm {

ScaledRows scaled_rows(const Block &block) {
    ScaledRows rows;
    rows.value.resize(block.values.size());
    for (std::int32_t i = 0; i < block.n(); ++i) {
        const auto begin = static_cast<std::size_t>(block.pattern.row_begin(i));
        const std::size_t end = begin + block.pattern.row(i).size();
        std::int64_t top = std::numeric_limits<std::int64_t>::min(); // every entry is below 2^top
        for (std::size_t k = begin; k < end; ++k) {
            const Tracked &x = block.values[k];
            if (x.value == 0) continue; // else it may be far below its magnitude
            int exponent = 0;
            std::frexp(x.value, &exponent);
            top = std::max(top, x.exp2 + exponent);
        }
        double absolute = 0;
        for (std::size_t k = begin; k < end; ++k) {
            const Tracked &x = block.values[k];
            if (x.value != 0) absolute += std::fabs(std::ldexp(x.value, ldexp_exponent(x.exp2 - top)));
        }
        if (absolute == 0) top = 0;
        int exponent = 0;
        absolute = std::frexp(absolute, &exponent);
        top += exponent;
        rows.exp2 += top;
        int unit = 0;
        for (std::size_t k = begin; k < end; ++k) {
            const Tracked &x = block.values[k];
            if (x.value == 0) continue;
            const int shift = ldexp_exponent(x.exp2 - top);
            rows.value[k] = std::ldexp(x.value, shift);
            unit = std::min(unit, unit_exponent(x.value) + shift - 1);
        }
        rows.absolute.push_back(absolute);
        rows.unit.push_back(unit);
    }
    return rows;
}

} // namespace libperm
