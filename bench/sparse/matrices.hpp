// Sparse matrices whose products are timed: synthetic ones of the kinds of Dalton et al., Table II, operators
// of strips, rings and bars, and matrices of diagonals as Haque, Parvez and Hossain have them.
#pragma once

#include "bench/families.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct Csr {
    std::string name;
    bool is_operator = false;
    std::uint32_t columns = 0;
    std::vector<std::uint32_t> first{0}, column;
    std::vector<double> value;

    std::uint32_t rows() const { return static_cast<std::uint32_t>(first.size()) - 1; }
    void end_row() { first.push_back(static_cast<std::uint32_t>(column.size())); }
    void add(std::uint64_t j, double x) {
        column.push_back(static_cast<std::uint32_t>(j));
        value.push_back(x);
    }
};

// Of at most so many rows and columns.
std::vector<Csr> synthetic_matrices(perm::families::Random &random, std::uint32_t most);
Csr operator_of(const std::string &lattice); // one cell's, multiplied out

Csr moved(const Csr &a); // its columns, by one to the right
Csr transposed(const Csr &a);

} // namespace bench
