// Rows of other numbers beside those of small integers: the products of their sums, modulo primes.
#pragma once

#include "lib/number/montgomery.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace libperm {

class OtherRows {
  public:
    OtherRows() = default; // there are none

    // value(matrix, row, k): of the k-th column whose sign prefixes tell, modulo the matrix' prime, as
    // Montgomery has numbers.
    OtherRows(const std::vector<std::uint64_t> &primes, std::size_t rows, std::size_t told,
              const std::function<std::uint64_t(std::size_t, std::size_t, std::size_t)> &value);

    bool are_none() const { return fields_.empty(); }
    std::size_t width() const { return are_none() ? 1 : fields_.size(); } // of a product: its residues
    static std::size_t bytes(std::size_t matrices, std::size_t rows, std::size_t told);
    static double seconds(double matrices, std::size_t rows, std::size_t told); // of a product

    // To each of width() sums modulo a prime, of numbers that stand for themselves times 2^-64, or subtracts
    // it. told: the first of the words of signs, each so many words from the one before.
    void add_product(const std::uint32_t *told, std::size_t stride, bool subtracts, std::int64_t *sums) const;

  private:
    std::vector<Montgomery> fields_;
    std::size_t rows_ = 0, octets_ = 0;
    std::vector<std::uint64_t> sums_; // by matrix, row, eight columns, their signs
};

} // namespace libperm
