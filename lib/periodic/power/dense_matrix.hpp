// Full matrices of numbers in doubles, and their products.
#pragma once

#include "lib/run/call.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace libperm {

// Numbers that are written before they are read: to clear gigabytes is a part of the work, and shared.
template <class T> struct Uncleared : std::allocator<T> {
    template <class U> struct rebind { using other = Uncleared<U>; };
    template <class U> void construct(U *at) noexcept { ::new (static_cast<void *>(at)) U; }
    template <class U, class... Rest> void construct(U *at, Rest &&...rest) {
        ::new (static_cast<void *>(at)) U(std::forward<Rest>(rest)...);
    }
};
using DensePlane = std::vector<double, Uncleared<double>>;

// In planes, by rows: the real part, in two where it is dd, then the imaginary part, if it is complex.
struct DenseMatrix {
    bool complex = false, dd = false;
    std::size_t rows = 0, columns = 0;
    std::vector<DensePlane> planes;
    std::int64_t exp2 = 0; // the matrix is these times 2^exp2
    double lost = 0;       // by numbers too small for doubles, of each of these at most

    static DenseMatrix unwritten(std::size_t rows, std::size_t columns, bool complex, bool dd);
    void normalise(); // the largest comes near 1, exp2 takes what it was
};

// Threads share it; the same bits whatever their number.
DenseMatrix product(const DenseMatrix &a, const DenseMatrix &b);

// Roundings on a term's way through a product over so many inner indices, of unit_of(its arithmetic).
double product_roundings(std::size_t inner, bool complex, bool dd);

// Seconds on one thread.
double product_seconds(double multiplications, bool complex, bool dd);

} // namespace libperm
