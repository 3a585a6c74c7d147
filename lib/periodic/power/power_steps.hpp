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

// trace(x, y) of two powers whose product is base^power, or of the base alone and null.
template <class Matrix, class Times, class Trace>
auto trace_by_halves(const Matrix &base, std::uint64_t power, const Times &times, const Trace &trace) {
    if (power == 1) return trace(base, nullptr);
    Matrix held;
    const Matrix *half = &base;
    for (const PowerStep step : steps_to(power / 2)) {
        held = times(*half, step == PowerStep::square ? *half : base);
        half = &held;
    }
    if (power % 2 == 0) return trace(*half, half);
    const Matrix last = times(*half, base);
    return trace(last, half);
}

} // namespace libperm
