// Full matrices of numbers in doubles, and their products.
#pragma once

#include "lib/run/run_control.hpp"

#include <array>
#include <cstdint>
#include <functional>
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
    double largest() const;
    void take_out(int power); // of two: the numbers become smaller, exp2 larger
    std::pair<double, double>
    taken_out(int power); // the same but for the planes: their factors, one after the other
};

// Products of real and imaginary parts: which of a, of b, and to which they are added, in this order.
struct PartProduct {
    std::size_t a, b, c;
    bool negative;
};
std::vector<PartProduct> parts_of_product(bool complex);

// Threads share it; the same bits whatever their number.
DenseMatrix product(const DenseMatrix &a, const DenseMatrix &b, RunControl &control);

// Roundings on a term's way through a product over so many inner indices, of unit_of(its arithmetic).
double product_roundings(std::size_t inner, bool complex, bool dd);

// Seconds on one thread.
double product_seconds(double multiplications, bool complex, bool dd);

// tr a, tr (a b), by the rows of a.
using DenseNumber = std::array<double, 4>; // its parts, in the order of the planes
DenseNumber trace(const DenseMatrix &a);
DenseNumber trace_of_product(const DenseMatrix &a, const DenseMatrix &b);

// A product is shared by tiles: some rows and columns of it.
struct DenseTile {
    std::size_t first_row, rows, first_column, columns;
};
void for_each_tile(std::size_t rows, std::size_t columns, const std::function<void(const DenseTile &)> &work);

// Packs one plane as a left or a right factor.
class PackedPlane {
  public:
    static PackedPlane of_rows(const DensePlane &a, std::size_t rows, std::size_t inner, RunControl &control);
    static PackedPlane of_columns(const DensePlane &b, std::size_t columns, std::size_t inner,
                                  RunControl &control);

    const double *at(std::size_t line, std::size_t inner_index) const { // of a panel's first line
        return packed_.data() + line * inner_ + inner_index * panel_;
    }

  private:
    using Pack = void (*)(const double *x, std::size_t lines, std::size_t inner, std::size_t panel,
                          double *to);
    static PackedPlane packed(const DensePlane &x, std::size_t lines, std::size_t inner, std::size_t panel,
                              Pack pack, RunControl &control);

    std::size_t panel_ = 0, inner_ = 0;
    DensePlane packed_;
};

// c += a b within a tile, over inner indices begin ... end - 1; begin is a multiple of dense_chunk. c is the
// tile's first number, with so many from one row to the next.
void add_tile_product(const PackedPlane &a, const PackedPlane &b, const DenseTile &tile, std::size_t begin,
                      std::size_t end, double *c, std::size_t stride);

} // namespace libperm
