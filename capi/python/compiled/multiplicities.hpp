// How often each row and column of a small matrix counts.
#pragma once

#include "capi/python/compiled/python.hpp"

#include <perm.h>

#include <array>
#include <cstdint>

namespace perm_python {

constexpr Py_ssize_t largest_order = 16; // more may take so long that it is to be interruptible
constexpr Py_ssize_t largest_graph = 20; // the same of hafnians
constexpr Py_ssize_t most_lines = 100;   // the same of repeated lines

// Reads sequences of ints, or None where each line counts once.
class Multiplicities {
  public:
    // Returns false, with no error set, where the general way is to be taken: of what are no counts of a's
    // lines, or of sums of more terms than a matrix of the largest order has.
    bool read(PyObject *rows, PyObject *columns, const perm_csr &a);

    void write_to(perm_csr &a) const { // which refers to them
        a.row_multiplicity = has_rows_ ? rows_.data() : nullptr;
        a.col_multiplicity = has_columns_ ? columns_.data() : nullptr;
    }

  private:
    using Counts = std::array<std::int64_t, largest_graph>;
    Counts rows_, columns_;
    bool has_rows_ = false, has_columns_ = false;
};

} // namespace perm_python
