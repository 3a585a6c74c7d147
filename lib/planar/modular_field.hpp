// Residues modulo a prime below 2^62 as what a determinant is made of.
#pragma once

#include "lib/number/montgomery.hpp"

#include <cstddef>
#include <cstdint>

namespace libperm {

class ModularField {
  public:
    using Number = std::uint64_t;

    explicit ModularField(std::uint64_t prime) : field_(prime), product_(field_.to(1)) {}

    Number number(std::uint64_t x) const { return field_.to(x); }
    static Number zero() { return 0; }
    Number one() const { return field_.to(1); }
    static bool is_zero(Number x) { return x == 0; }
    static bool may_be_zero(Number x) { return x == 0; }
    void add(Number &to, Number x) const { to = field_.add(to, x); }
    void negate(Number &to) const { to = field_.subtract(0, to); }
    void multiply(Number &to, Number x) const { to = field_.multiply(to, x); }
    void subtract_products(Number &to, const Number *x, const Number *y, std::size_t count) const {
        to = field_.subtract(to, field_.sum_of_products(x, y, count));
    }
    Number inverse(Number x) const { return field_.power(x, field_.prime() - 2); }

    void multiply_product(Number pivot) { product_ = field_.multiply(product_, pivot); }
    void multiply_bound(const Number *, std::size_t) { product_ = 0; } // all are 0
    void negate_product() { product_ = field_.subtract(0, product_); }
    Number product() const { return product_; }

    void subtract(Number &to, Number x) const { to = field_.subtract(to, x); }
    std::uint64_t residue(Number x) const { return field_.from(x); }

  private:
    Montgomery field_;
    Number product_;
};

} // namespace libperm
