// NVIDIA's cuSPARSE beside our kernels, where there is one on the machine: found when the program runs.
#pragma once

#include "bench/loaded.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace bench {

struct DeviceCsr {
    std::int64_t rows, columns, entries;
    std::uint64_t first, column, value; // addresses; 32 bits an index
};

class CuSparse {
  public:
    CuSparse(); // of the current context; throws std::runtime_error
    ~CuSparse();
    CuSparse(const CuSparse &) = delete;
    CuSparse &operator=(const CuSparse &) = delete;

    int version() const { return version_; }
    void synchronize() const; // waits for all of the context's work

    // y = A x. Its buffer, and what is found out of A before, are made by prepare().
    enum class Algorithm {
        usual = 0,
        plain = 2,
        balanced = 3
    }; // CUSPARSE_SPMV_ALG_DEFAULT, CSR_ALG1, CSR_ALG2
    void prepare(const DeviceCsr &a, std::uint64_t x, std::uint64_t y, Algorithm algorithm);
    void multiply();

    // C = A + B, and C = A B: the sizes of what is written are found, and it is written. Rooms are kept.
    struct Written {
        std::uint64_t first, column, value; // addresses, with room for all
    };
    void add(const DeviceCsr &a, const DeviceCsr &b, const Written &c);
    std::int64_t multiply(const DeviceCsr &a, const DeviceCsr &b); // entries of C

    void forget();

  private:
    Loaded cusparse_, cuda_;
    void *handle_ = nullptr;
    void reserve(std::size_t room, std::size_t bytes);

    std::array<std::uint64_t, 5> room_{};
    std::array<std::size_t, 5> room_bytes_{};
    void *general_ = nullptr; // a description of matrices without properties
    void *matrix_ = nullptr, *x_ = nullptr, *y_ = nullptr;
    std::uint64_t buffer_ = 0;
    Algorithm algorithm_ = Algorithm::usual;
    int version_ = 0;
};

} // namespace bench
