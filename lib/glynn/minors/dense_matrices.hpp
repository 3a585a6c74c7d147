// The caller's dense matrices of one shape, read line by line for sums over signs and counts.
#pragma once

#include "lib/glynn/grid_matrix.hpp"

#include <perm.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace libperm {

// The lines of one side that count: how many copies each has, and where it stands among the caller's.
struct DenseSide {
    std::vector<int> count;
    std::vector<std::int64_t> line;
    std::int64_t total = 0;
    bool is_counted; // whether multiplicities were given

    // `what`: the side's name. Throws Error.
    DenseSide(std::int64_t lines, const std::int64_t *multiplicity, const char *what);

    // Puts the most copies first, so that the sum's last kind, of which half the counts do, has the fewest.
    void sort();
    // Lists each copy by itself.
    void write_out();
    int kinds() const { return static_cast<int>(count.size()); }
};

class DenseMatrices {
  public:
    // Throws Error for what is no such matrix, or not finite.
    explicit DenseMatrices(const perm_dense *a);

    DenseSide rows() const { return {a_.n_rows, a_.row_multiplicity, "row"}; }
    DenseSide columns() const { return {a_.n_cols, a_.col_multiplicity, "col"}; }
    std::int64_t count() const { return a_.count; }
    std::int64_t entries() const { return a_.n_rows * a_.n_cols; }
    std::int64_t order() const { return std::max(a_.n_rows, a_.n_cols); }
    bool is_complex() const { return is_complex_; }
    std::size_t parts() const { return is_complex_ ? 2 : 1; }

    // Reads matrix m's entries of these lines: `across` stands beside each other in `lines`, or below if
    // transposed.
    void read(std::int64_t m, const DenseSide &down, const DenseSide &across, bool is_transposed,
              GridMatrix &lines) const;

    std::string digest() const; // of all of them, 32 hexadecimal digits

  private:
    double real(std::int64_t k) const { return static_cast<const double *>(a_.values)[k]; }
    double integer(std::int64_t k) const {
        return static_cast<double>(static_cast<const std::int64_t *>(a_.values)[k]);
    }
    void require_values() const;
    std::string place(std::int64_t k) const;

    const perm_dense &a_;
    const bool is_complex_;
};

} // namespace libperm
