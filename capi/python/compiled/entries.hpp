// The values of matrices of one pattern, as the library reads them.
#pragma once

#include "capi/python/compiled/array.hpp"

#include <array>
#include <memory>
#include <new>

namespace perm_python {

struct Entries {
    const void *first = nullptr; // null: the general way is to be taken
    std::int64_t count = 0, stride = 0;
};

// Lends memory for copies, null if there is none left; for small matrices without an allocation.
class Scratch {
  public:
    char *of(std::size_t bytes) {
        if (bytes <= small_.size()) return small_.data();
        large_.reset(new (std::nothrow) char[bytes]);
        return large_.get();
    }

  private:
    alignas(16) std::array<char, 4096> small_; // 16 x 16 complex numbers
    std::unique_ptr<char[]> large_;
};

// Takes the values of one matrix: nnz entries, or the whole of it. They are copied where they do not lie as
// the library reads them, and there are none if the array is of another shape or type, or has an entry
// outside of the pattern.
Entries entries_of_one(const perm_csr &pattern, const Array &values, Scratch &scratch);

// Takes those of many matrices: the same with an axis before it.
Entries entries_of_many(const perm_csr &pattern, const Array &values, Scratch &scratch);

bool any_negative(const Entries &entries, std::int64_t nnz, perm_value_type type);

} // namespace perm_python
