// Products and sums of sparse matrices on a GPU: seconds of one by our kernels and by cuSPARSE, where there
// is one. Results are checked (std::runtime_error).
#pragma once

#include "bench/cusparse.hpp"
#include "bench/kernels/sparse_product.hpp"
#include "bench/sparse/matrices.hpp"

#include <cstdint>
#include <optional>

namespace bench {

struct VectorTimes {
    double cut = 0, ours = 0;              // cut: once for a matrix
    std::optional<double> usual, balanced; // cuSPARSE's default and CSR_ALG2, each prepared before
};
VectorTimes time_vector_product(libperm::DeviceQueue &queue, CuSparse *cusparse, const Csr &a, int runs);

struct Times {
    double ours = 0;
    std::optional<double> theirs;
    std::uint64_t single = 0;  // products
    std::uint32_t entries = 0; // of the result
};
Times time_sum(libperm::DeviceQueue &queue, CuSparse *cusparse, const Csr &a, const Csr &b, int runs);
Times time_matrix_product(SparseProduct &product, libperm::DeviceQueue &queue, CuSparse *cusparse,
                          const Csr &a, const Csr &b, int runs);

} // namespace bench
