// The matrix of a plan's or a part's file: its pattern and its values, checked when they are read.
#pragma once

#include "lib/base/fields.hpp"

#include <perm.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace perm {

struct KeptPattern {
    std::int64_t n_cols = 0;
    std::vector<std::int64_t> row_ptr{0}, col_idx;
    std::vector<std::int64_t> row_multiplicity, col_multiplicity; // none: all 1
    std::int32_t value_type = 0;                                  // perm_value_type

    std::int64_t nnz() const { return std::ssize(col_idx); }

    // Without values. Valid as long as this is.
    perm_csr csr() const;

    friend bool operator==(const KeptPattern &, const KeptPattern &) = default;
    template <class Archive> void serialize(Archive &ar) {
        ar(n_cols, row_ptr, col_idx, row_multiplicity, col_multiplicity, value_type);
        libperm::require_read<Archive>(is_sound(), "the matrix");
    }

  private:
    bool is_sound() const; // as to lengths: what the numbers are, the library checks
};

KeptPattern pattern_of(const perm_csr &a);

// As perm_plan_execute takes them.
struct KeptValues {
    std::vector<double> doubles;
    std::vector<std::int64_t> integers;
    std::vector<std::string> texts;

    // Whether they are as many and of such a type as the pattern has.
    bool are_of(const KeptPattern &a) const;

    friend bool operator==(const KeptValues &, const KeptValues &) = default;
    template <class Archive> void serialize(Archive &ar) { ar(doubles, integers, texts); }
};

KeptValues values_of(const perm_csr &a);

class ValuesView { // valid as long as the values
  public:
    ValuesView(const KeptValues &values, std::int32_t value_type);
    const void *data() const { return data_; }

  private:
    std::vector<const char *> texts_;
    const void *data_ = nullptr;
};

} // namespace perm
