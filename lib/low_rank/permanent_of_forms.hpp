// perm(C W) modulo a prime, from the linear forms that the rows of C and the columns of W are
// (lib/low_rank/low_rank.hpp), and what that takes.
#pragma once

#include "lib/number/residues.hpp"
#include "lib/run/call.hpp"
#include "preprocess/limits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace libperm {

double monomial_count(std::int32_t n, std::int32_t variables); // C(n + r - 1, r - 1)

// The monomials of products of linear forms in few variables, without the first, whose exponent is what is
// left: by degree; those of one degree in lexicographic order.
class Monomials {
  public:
    static constexpr std::int32_t none = -1;

    Monomials(std::int32_t n, std::int32_t variables);

    std::int32_t degree() const { return n_; }
    std::int32_t variables() const { return variables_; }
    std::size_t count() const { return below_.back(); }
    // Of degree up to d.
    std::size_t up_to(std::int32_t d) const { return below_[static_cast<std::size_t>(d) + 1]; }
    // What variable `t`, from 1 on, times it is this one; none: it does not have the variable.
    const std::vector<std::int32_t> &divided(std::int32_t t) const {
        return divided_[static_cast<std::size_t>(t) - 1];
    }
    // Its exponents, the first variable's among them, all with the sum n.
    std::vector<std::int32_t> exponents(std::size_t monomial) const;

  private:
    std::int32_t n_, variables_;
    std::vector<std::size_t> below_; // of a degree below d, by d
    std::vector<std::int32_t> exponents_;
    std::vector<std::vector<std::int32_t>> divided_;
};

constexpr double most_monomials = 0x1p24;
constexpr double product_seconds = 2.5e-9;

// For one prime, on both sides: n forms, each times the monomials so far.
double products_of_forms(std::int32_t n, std::int32_t variables);
// The monomials, and what so many primes at once hold.
double bytes_of_forms(std::int32_t n, std::int32_t variables, double primes);

// Products of linear forms in two variables: polynomials in one, the other being 1.

// Of n forms.
double products_of_binary_forms(double n);

// Of the forms a + b x, a and b behind each other in Montgomery's form, the coefficients of 1, x, ...;
// done(count) is told of forms that have been taken, and may throw.
std::vector<std::uint64_t> product_of_binary_forms(const Montgomery &field,
                                                   const std::vector<std::uint64_t> &forms,
                                                   const std::function<void(std::size_t)> &done);

// Of each form its coefficients, one form behind the other, in Montgomery's form. Progress counts `work` in
// all.
std::uint64_t permanent_of_forms(const Monomials &monomials, const Montgomery &field,
                                 const std::vector<std::uint64_t> &rows,
                                 const std::vector<std::uint64_t> &columns, double work);

} // namespace libperm
