// An arithmetic's numbers on the host, from and to the doubles that they are made of.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

namespace libperm {

// These are `stride` doubles from each other.
template <class Number> Number gathered(const double *from, std::ptrdiff_t stride = 1) {
    double parts[sizeof(Number) / sizeof(double)];
    for (double &part : parts) part = *std::exchange(from, from + stride);
    return std::bit_cast<Number>(parts);
}
template <class Number> void scatter(const Number &x, double *to, std::ptrdiff_t stride = 1) {
    double parts[sizeof(Number) / sizeof(double)];
    std::memcpy(parts, &x, sizeof x);
    for (const double part : parts) *std::exchange(to, to + stride) = part;
}

} // namespace libperm
