// Products of sparse matrices on a device: the launches of bench/kernels/matrix_product, and their rooms.
#pragma once

#include "jit/queue/device_queue.hpp"

#include <cstdint>

namespace bench {

struct DeviceMatrix { // by rows, columns ascending
    std::uint32_t rows = 0, columns = 0, entries = 0;
    libperm::DeviceAddress first = 0, column = 0,
                           value = 0; // u32, u32, doubles; of each row's entries, and their number
};

class SparseProduct {
  public:
    explicit SparseProduct(libperm::DeviceQueue &queue); // loads the kernels

    // C = A B, columns ascending; sums in the order of A's entries within a tile of single products, and then
    // of tiles. Its arrays, and 26 bytes a single product, are kept until the next. Refuses 2^32 single
    // products and 2^31 columns (std::length_error).
    DeviceMatrix multiply(const DeviceMatrix &a, const DeviceMatrix &b);
    std::uint64_t products() const { return products_; } // of the last

  private:
    libperm::DeviceQueue *queue_;
    unsigned threads_;
    std::uint64_t products_ = 0;
    libperm::DeviceArray sums_, before_, cuts_, column_, value_, size_, begin_, end_, shared_, shared_column_,
        shared_value_, window_;
    libperm::DeviceArray c_first_, c_column_, c_value_;
};

} // namespace bench
