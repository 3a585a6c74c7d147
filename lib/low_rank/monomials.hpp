// The monomials of products of linear forms in few variables, without the first, whose exponent is what is
// left.
#pragma once

#include "lib/number/montgomery.hpp"
#include "preprocess/poll.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

// C(n + r - 1, r - 1).
double monomial_count(std::int32_t n, std::int32_t variables);

// By degree; those of one degree in lexicographic order.
class Monomials {
  public:
    static constexpr std::int32_t none = -1;

    Monomials(std::int32_t n, std::int32_t variables, const Poll &poll = no_poll);

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

// Of the product of n linear forms the coefficients, modulo a prime and in Montgomery's form.
class LinearProduct {
  public:
    LinearProduct(const Monomials &monomials, const Montgomery &field);
    void multiply(const std::uint64_t *form); // its coefficients, in Montgomery's form
    const std::vector<std::uint64_t> &coefficients() const { return coefficients_; }

  private:
    const Monomials &monomials_;
    const Montgomery &field_;
    std::int32_t forms_ = 0;
    std::vector<std::uint64_t> coefficients_;
};

} // namespace libperm
