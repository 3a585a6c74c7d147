// A power by squares and products with the base, from the base on.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace libperm {

enum class PowerStep : bool { square, times_base };

inline std::vector<PowerStep> steps_to(std::uint64_t power) { // power >= 1
    std::vector<PowerStep> steps;
    for (auto bit = std::bit_width(power) - 1; bit-- > 0;) {
        steps.push_back(PowerStep::square);
        if (power >> bit & 1) steps.push_back(PowerStep::times_base);
    }
    return steps;
}

// Products for the trace of a power: of its half they are, and of two halves none.
inline std::size_t products_to(std::uint64_t power) {
    return power < 2 ? 0 : steps_to(power / 2).size() + power % 2;
}

} // namespace libperm
