// Matrices stored by diagonals, beside the same in rows.
#pragma once

#include "bench/kernels/diagonal_product.hpp"
#include "bench/sparse/products.hpp"

namespace bench {

struct DiagonalMatrix {
    DiagonalStorage storage;
    std::uint32_t n;
    std::vector<std::int32_t> diagonals; // as its storage has them
    std::vector<double> value;

    Csr rows() const; // what is not 0
};
// All within `half` of the main diagonal, as CDM; what would go round is 0. `count` at random, as HM.
DiagonalMatrix band_matrix(std::uint32_t n, std::uint32_t half);
DiagonalMatrix random_diagonals(std::uint32_t n, std::uint32_t count, perm::families::Random &random);

// By diagonals, by rows with our kernels, and by rows with cuSPARSE.
struct DiagonalTimes {
    double by_diagonals = 0, by_rows = 0;
    std::optional<double> theirs;
    std::uint64_t stored = 0; // numbers of C
};
DiagonalTimes time_diagonal_vector(libperm::DeviceQueue &queue, CuSparse *cusparse, const DiagonalMatrix &a,
                                   int runs);
DiagonalTimes time_diagonal_product(SparseProduct &product, libperm::DeviceQueue &queue, CuSparse *cusparse,
                                    const DiagonalMatrix &a, const DiagonalMatrix &b, int runs);

} // namespace bench
