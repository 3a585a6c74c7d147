// A full matrix with many equal lines, each kind of them written once.
#pragma once

#include "preprocess/poll.hpp"

#include <perm.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

class MergedLines {
  public:
    // Looks at each entry once. Empty where there is little to gain, where lines are of more kinds than are
    // told apart here, and where something is at fault, which the general way names.
    static std::optional<MergedLines> of(const perm_csr &a);

    perm_csr csr() const; // of this

  private:
    struct Kinds {
        std::vector<std::int64_t> first, count; // a line of each kind, and how many there are
    };

    // By same(k, line): whether line k is as `line`. False: there are too many kinds.
    template <class Same>
    static bool sort(std::int64_t lines, const Same &same, Kinds &kinds, PolledSteps &steps);
    template <class Index> bool merge(const perm_csr &a, std::size_t value_bytes);

    Kinds rows_, columns_;
    std::vector<std::int64_t> row_ptr_, col_;
    std::vector<std::byte> values_;
    std::int32_t value_type_ = PERM_VALUE_F64;
};

} // namespace libperm
