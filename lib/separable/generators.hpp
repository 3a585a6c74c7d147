// Generators of quasi-separable matrices modulo a prime: of those whose blocks right above the diagonal, and
// right below it, have low ranks (Eidelman and Gohberg, Integral Equations Operator Theory 34 (1999)). The
// diagonal may be anything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

constexpr std::size_t most_kinds = 3; // of lines that wait, on each side of the diagonal

// A dense matrix modulo a prime, by row.
struct DenseResidues {
    std::size_t n = 0;
    std::uint64_t prime = 0;           // odd, below 2^62
    std::vector<std::uint64_t> values; // 0 .. prime - 1
};

struct LineOrder {
    std::vector<std::size_t> rows, cols; // which row and which column stands at each place
};
LineOrder order_as_given(std::size_t n);

// The entries on one side of the diagonal, each between a line i that comes first and a line j that comes
// later: the sum of opens[i][t] closes[j][t] over the kinds t. That holds for kinds that have not ended at
// i, ..., j - 1: what lines behind an end open and close has nothing to do with what was opened before.
struct Triangle {
    using OfKinds = std::array<std::uint64_t, most_kinds>;

    std::size_t kinds = 0;
    std::vector<OfKinds> opens, closes;
    std::vector<std::uint8_t> ends; // by line: bit t tells that no line behind closes what kind t has opened
};

struct Generators {
    std::uint64_t prime = 0;
    std::vector<std::uint64_t> diagonal;
    Triangle above, below; // rows open what columns close, and columns open what rows close
};

// Of the matrix in that order; none: a side needs more kinds. It needs one more at most than the greatest
// rank of a block there, and never more than a matrix of the least rank with the same entries. What is found
// is right modulo the prime, as each entry has been compared. In O(n^2), and mostly O(n) where there are
// none.
std::optional<Generators> generators_of(const DenseResidues &matrix, const LineOrder &order);

} // namespace libperm
