// perm(C W) modulo a prime, from the linear forms that the rows of C and the columns of W are
// (lib/low_rank/low_rank.hpp), and what that takes.
#pragma once

#include "lib/low_rank/monomials.hpp"
#include "lib/run/run_control.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

constexpr double most_monomials = 0x1p24;
constexpr double product_seconds = 2.5e-9;

// For one prime, on both sides: n forms, each times the monomials so far.
double products_of_forms(std::int32_t n, std::int32_t variables);
// The monomials, and what so many primes at once hold.
double bytes_of_forms(std::int32_t n, std::int32_t variables, double primes);

// Of each form its coefficients, one form behind the other, in Montgomery's form. Progress counts `work` in
// all.
std::uint64_t permanent_of_forms(const Monomials &monomials, const Montgomery &field,
                                 const std::vector<std::uint64_t> &rows,
                                 const std::vector<std::uint64_t> &columns, double work, RunControl &control);

} // namespace libperm
