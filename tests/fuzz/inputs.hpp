// Matrices and options out of bytes.
#pragma once

#include "tests/fuzz/target.hpp"

#include <perm.h>

namespace fuzz {

// Mostly what perm.h allows, of order 8 at most.
struct Matrix {
    std::vector<std::int64_t> row_ptr{0}, col_idx, integers, row_multiplicity, col_multiplicity;
    std::vector<std::int32_t> row_ptr_32, col_idx_32;
    std::vector<double> doubles;
    std::vector<std::string> texts;
    std::vector<const char *> text_pointers;
    perm_csr csr = PERM_CSR_INIT;

    explicit Matrix(Bytes &bytes);
    Matrix(const Matrix &) = delete;
    Matrix &operator=(const Matrix &) = delete;

  private:
    void multiply(Bytes &bytes);
    void weigh(Bytes &bytes, std::size_t nnz);
};

// Within a second and 256 MB, on the processor, with no cache.
perm_opts limited();
perm_opts options(Bytes &bytes);

// A band of doubles of order 9.
struct Band {
    std::vector<std::int64_t> row_ptr{0}, col_idx;
    std::vector<double> values;
    perm_csr csr = PERM_CSR_INIT;
    Band();
};

// What the statuses and texts of a call promise.
void check_call(perm_status status, perm_result &result);

} // namespace fuzz
