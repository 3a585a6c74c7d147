// Matrices for products with many vectors: operators of joined ends (their largest blocks) multiplied out,
// and synthetic ones.
#pragma once

#include "bench/families.hpp"
#include "lib/periodic/period/period_walk.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct Rows {
    std::string name;
    std::uint32_t columns = 0;
    std::vector<std::uint32_t> first{0}, column;
    std::vector<double> value;
    std::optional<libperm::LaneLevels> factors; // of an operator

    std::uint32_t rows() const { return static_cast<std::uint32_t>(first.size()) - 1; }
    void end_row() { first.push_back(static_cast<std::uint32_t>(column.size())); }
    void add(std::uint32_t j, double x) {
        column.push_back(j);
        value.push_back(x);
    }
};

constexpr std::array<const char *, 14> joined_lattices{
    "grid:8",   "grid:10",  "grid:12",  "grid:14",  "ring:10",  "ring:12",  "ring:14",
    "grid:2x5", "grid:2x6", "grid:3x4", "ring:4x3", "grid:2x7", "grid:4x4", "ring:4x4"};

Rows operator_of(const std::string &lattice);
std::vector<Rows> levels_of(const std::string &lattice); // its factors, one by one

// A B; without rows if it had more entries than that.
Rows product_of(const Rows &a, const Rows &b, std::size_t most = std::numeric_limits<std::size_t>::max());

// A(delta, theta, rho) of Sylos Labini et al.: blocks of delta x delta, a share theta of them with entries, a
// share rho of theirs; rows in any order.
Rows synthetic(std::uint32_t n, std::uint32_t delta, double theta, double rho,
               perm::families::Random &random);

// Without rows if it had more entries than that.
Rows square_of(const Rows &a, std::size_t most);

} // namespace bench
