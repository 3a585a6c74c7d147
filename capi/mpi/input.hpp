// Rank 0's matrix, checked: its values as bytes for the other ranks, and a digest.
#pragma once

#include <perm.h>

#include <string>
#include <vector>

namespace libperm::mpi {

// Throws Error, as perm_compute would.
struct Input {
    explicit Input(const perm_csr *a);

    perm_csr csr;
    std::string values; // and the weights of unmatched lines behind them, as bytes, see ValueView
    std::string digest; // of pattern and values, 32 hexadecimal digits
};

// The values as perm.h has them again, in bytes that stay where they are.
class ValueView {
  public:
    ValueView(const std::string &bytes, perm_value_type type);
    ValueView(const ValueView &) = delete;
    ValueView &operator=(const ValueView &) = delete;
    const void *data() const { return data_; }

  private:
    std::vector<const char *> texts_;
    const void *data_ = nullptr;
};

} // namespace libperm::mpi
