// A small matrix of a few kinds of rows and columns, each repeated: as the caller tells of it or as equal
// lines are found, and its sum over counts in doubles, with its bound.
#pragma once

#include "jit/lanes/count_sum.hpp"
#include "lib/glynn/small_matrix.hpp"
#include "lib/input/matrix.hpp"
#include "lib/tape/tape_run.hpp"
#include "preprocess/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <perm.h>
#include <vector>

namespace libperm {

// Lines that are repeated 0 times are left out; it is transposed if that makes fewer terms.
struct SmallLineClasses {
    SmallMatrix matrix; // with zeros in the rows and columns that make it square
    int columns = 0;
    RowCounts row_count;
    std::array<int, most_small_order> column_count{}; // the largest first
    std::int64_t nnz = 0;                             // of the matrix written out
    double terms = 0;
};

// False for what has no multiplicities, more terms than take a moment, or is not doubles, not finite or at
// fault: the general road tells which.
bool read_line_classes(const perm_csr &a, SmallLineClasses &out);

// How many terms a matrix of this pattern has whose doubles are not 0; none if it is not for this sum.
std::optional<double> terms_of_line_classes(const InputPattern &input);

// A full matrix with many equal lines, each kind of them written once.

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

// Twice the precision follows, where it may, if the bound misses the tolerance. On so many threads at most,
// with the same bits for any number of them. False: the matrix is not for this (put_on_grid).
bool glynn_multiplicity(const SmallLineClasses &a, double tolerance, bool may_be_dd, int threads,
                        TapeAnswer &answer);

} // namespace libperm
