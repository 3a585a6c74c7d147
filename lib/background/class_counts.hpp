// How many lines of each class a matching of B takes, as one number.
#pragma once

#include "lib/structure/structure.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

// The counts are digits. As many rows as columns are taken of classes that entries of B join, so that of
// these the one that may be taken from most often has none: the others say how many of it.
struct ClassCounts {
    struct Class {
        std::int32_t lines, most;  // of the class, and at most in a matching
        std::size_t component = 0; // of classes that entries join, numbered as one of them
        std::size_t stride = 0;
    };
    std::vector<Class> rows, cols;
    std::size_t numbers = 1; // all are below

    std::size_t of_entry(const Background &b, std::int32_t i, std::int32_t j) const;
};

constexpr double most_counts = 0x1p24;

// No rows: there would be more numbers.
ClassCounts class_counts(const Background &b);

} // namespace libperm
