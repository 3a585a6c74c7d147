// cuSPARSE's sparse matrix times a dense one, where there is one on the machine.
#pragma once

#include "bench/cusparse.hpp"

#include <cstdint>

namespace bench {

class CuSparseMany {
  public:
    CuSparseMany(); // of the current context; throws std::runtime_error
    ~CuSparseMany();
    CuSparseMany(const CuSparseMany &) = delete;
    CuSparseMany &operator=(const CuSparseMany &) = delete;

    // Y = A X, X and Y by rows of so many numbers.
    enum class Algorithm { usual = 0, csr_1 = 4, csr_2 = 6, csr_3 = 12, blocked = 13 };
    void prepare(const DeviceCsr &a, std::uint64_t x, std::uint64_t y, std::int64_t lanes,
                 Algorithm algorithm);
    // Square blocks, as many in each row of them; column: of each its column of blocks, -1: none.
    struct DeviceEllpack {
        std::int64_t rows, columns, block, width; // width: of a row's blocks together
        std::uint64_t column, value;
    };
    void prepare(const DeviceEllpack &a, std::uint64_t x, std::uint64_t y, std::int64_t lanes);
    void multiply();
    void synchronize() const;
    void forget();

  private:
    void prepare_rest(std::int64_t rows, std::int64_t columns, std::uint64_t x, std::uint64_t y,
                      std::int64_t lanes, Algorithm algorithm);

    Loaded cusparse_, cuda_;
    void *handle_ = nullptr;
    void *matrix_ = nullptr, *x_ = nullptr, *y_ = nullptr;
    std::uint64_t buffer_ = 0;
    Algorithm algorithm_ = Algorithm::usual;
};

} // namespace bench
