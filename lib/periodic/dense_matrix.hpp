// Full matrices of numbers in doubles, and their products.
#pragma once

#include "lib/run/run_control.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace libperm {

// In planes, by rows: the real part, in two where it is twofold, then the imaginary part, if it is complex.
struct DenseMatrix {
    bool complex = false, twofold = false;
    std::size_t rows = 0, columns = 0;
    std::vector<std::vector<double>> planes;
    std::int64_t exp2 = 0; // the matrix is these times 2^exp2
    double lost = 0;       // by numbers too small for doubles, of each of these at most

    static DenseMatrix zeros(std::size_t rows, std::size_t columns, bool complex, bool twofold);
    double largest() const;
};

// Threads share it; the same bits whatever their number.
DenseMatrix product(const DenseMatrix &a, const DenseMatrix &b, RunControl &control);

// Roundings on a term's way through a product over so many inner indices, of unit_of(its arithmetic), with
// those of the sum over a fold of few states.
double product_roundings(std::size_t inner, bool complex, bool twofold);

// Seconds on one thread.
double product_seconds(double multiplications, bool complex, bool twofold);

// tr a, tr (a b), by the rows of a.
using DenseNumber = std::array<double, 4>; // its parts, in the order of the planes
DenseNumber trace(const DenseMatrix &a);
DenseNumber trace_of_product(const DenseMatrix &a, const DenseMatrix &b);

// What a product is shared by: some rows and columns of it.
struct DenseTile {
    std::size_t first_row, rows, first_column, columns;
};
void for_each_tile(std::size_t rows, std::size_t columns, const std::function<void(const DenseTile &)> &work);

// One plane as a left or a right factor.
class PackedPlane {
  public:
    static PackedPlane of_rows(const std::vector<double> &a, std::size_t rows, std::size_t inner);
    static PackedPlane of_columns(const std::vector<double> &b, std::size_t columns, std::size_t inner);

    const double *at(std::size_t line, std::size_t inner_index) const { // of a panel's first line
        return packed_.data() + line * inner_ + inner_index * panel_;
    }

  private:
    std::size_t panel_ = 0, inner_ = 0;
    std::vector<double> packed_;
};

// c += a b within a tile, over inner indices begin ... end - 1; begin is a multiple of dense_chunk. c is the
// tile's first number, with so many from one row to the next.
void add_tile_product(const PackedPlane &a, const PackedPlane &b, const DenseTile &tile, std::size_t begin,
                      std::size_t end, double *c, std::size_t stride);

} // namespace libperm
