// The least and the largest of many numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace libperm {

struct MagnitudeRange { // of numbers that are not negative: the least is that of the positive ones
    double least = std::numeric_limits<double>::infinity(), most = 0;
};

// work(k, k % 4) for k = 0 .. count - 1, so that what is made of every fourth does not wait for the others.
template <class Work> void by_fours(std::size_t count, const Work &work) {
    std::size_t k = 0;
    for (; k + 4 <= count; k += 4)
        for (std::size_t j = 0; j < 4; ++j) work(k + j, j);
    for (; k < count; ++k) work(k, k % 4);
}

inline MagnitudeRange range_of(const double *numbers, std::size_t count) {
    std::array<double, 4> least{}, most{};
    least.fill(MagnitudeRange().least);
    by_fours(count, [&](std::size_t k, std::size_t j) {
        const double x = numbers[k], positive = x > 0 ? x : MagnitudeRange().least;
        least[j] = positive < least[j] ? positive : least[j];
        most[j] = x > most[j] ? x : most[j];
    });
    return {*std::min_element(least.begin(), least.end()), *std::max_element(most.begin(), most.end())};
}

// Adds `by` > 0 to numbers that lie `apart` from each other; the least is not looked for.
// NOLINTNEXTLINE(readability-non-const-parameter): they are written through a reference
inline MagnitudeRange raised_range(double *numbers, std::size_t count, std::size_t apart, double by) {
    std::array<double, 4> most{};
    by_fours(count, [&](std::size_t k, std::size_t j) {
        double &x = numbers[k * apart];
        x += by;
        most[j] = x > most[j] ? x : most[j];
    });
    return {MagnitudeRange().least, *std::max_element(most.begin(), most.end())};
}

} // namespace libperm
