// The numbers of matchings of a dense matrix of whole numbers, by sums over subsets of its columns.
//
// With r_i(S) = sum of a_ij over j in S, and e_k the elementary symmetric polynomials,
//
//     m_k = sum_{s <= k} (-1)^(k - s) C(n - s, k - s) E_{s,k},   E_{s,k} = sum over |S| = s of e_k(r_1(S),
//     ...)
//
// for n columns: a set of k columns is used up, each once, by inclusion and exclusion over S in it, and S is
// in C(n - s, k - s) of such sets. Of equal columns only how many are in S is counted. All is modulo a power
// of 2^64 that is longer than any of the numbers.
#pragma once

#include "lib/input/input_pattern.hpp"
#include "lib/run/call.hpp"
#include "preprocess/pattern.hpp"

#include <gmpxx.h>

#include <optional>
#include <vector>

namespace libperm {

class MatchingSums {
  public:
    // `columns`: in its rows, the entries of the columns that subsets are of. None: where there are too many
    // columns or where sums of their entries are longer than a word.
    static std::optional<MatchingSums> of(const Pattern &columns, const std::vector<mpz_class> &values,
                                          const LineCounts &column_count, const LineCounts &row_count,
                                          double bits);

    double serial_seconds() const; // predicted
    double terms() const { return static_cast<double>(terms_); }
    std::int64_t bytes() const { return bytes_; } // held

    // Equal shares of the terms; they follow from the matrix alone.
    std::uint64_t pieces() const;

    // All E_{s,k}, by pieces where the call has them, on so many threads.
    std::vector<mp_limb_t> sums(int threads) const;
    // m_0, m_1, ..., `count` of them.
    std::vector<mpz_class> numbers(const std::vector<mp_limb_t> &sums, std::size_t count) const;

  private:
    struct Entry {
        std::size_t row;
        std::int64_t value;
        friend auto operator<=>(const Entry &, const Entry &) = default;
    };
    struct Kind { // of equal columns
        std::vector<Entry> entries;
        std::int64_t count;
    };
    class Walk;

    std::uint64_t terms_at_once() const; // that a thread sums before it tells of them
    void add_terms(std::uint64_t first, std::uint64_t end, std::vector<mp_limb_t> &sums) const;
    std::size_t place(std::size_t s, std::size_t k) const { return (s * (most_ + 1) + k) * words_; }
    double products() const; // of a term

    std::vector<Kind> kinds_;
    std::vector<std::int64_t> row_times_; // of the rows with an entry
    std::size_t columns_ = 0, rows_ = 0;  // with their multiplicities
    std::size_t most_ = 0;                // entries that a matching may have
    std::size_t words_ = 1;
    std::uint64_t terms_ = 1;
    bool weighted_ = false; // some column is there twice
    std::int64_t bytes_ = 0;
};

} // namespace libperm
