#include "lib/low_rank/permanent_of_forms.hpp"

#include "preprocess/index.hpp"

#include <algorithm>

namespace libperm {
namespace {

// Each form is divided by its first coefficient, unless that is 0; `scale` is multiplied by these.
std::vector<std::uint64_t> product_of(const Monomials &monomials, const Montgomery &field,
                                      std::vector<std::uint64_t> forms, std::uint64_t &scale, double work,
                                      RunControl &control) {
    LinearProduct product(monomials, field);
    const std::size_t r = at(monomials.variables()), n = at(monomials.degree());
    for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t *const form = &forms[i * r];
        if (form[0] != 0) {
            scale = field.multiply(scale, form[0]);
            const std::uint64_t inverse = field.power(form[0], field.prime() - 2);
            for (std::size_t t = 0; t < r; ++t) form[t] = field.multiply(form[t], inverse);
        }
        product.multiply(form);
        control.advance(work / static_cast<double>(n));
    }
    return product.coefficients();
}

} // namespace

double products_of_forms(std::int32_t n, std::int32_t variables) {
    return 2.0 * n * monomial_count(n, variables) / variables * std::max(1, variables - 1);
}

double bytes_of_forms(std::int32_t n, std::int32_t variables, double primes) {
    return monomial_count(n, variables) * (16 * primes + 64);
}

std::uint64_t permanent_of_forms(const Monomials &monomials, const Montgomery &field,
                                 const std::vector<std::uint64_t> &rows,
                                 const std::vector<std::uint64_t> &columns, double work,
                                 RunControl &control) {
    const Charge charge(&control.memory(), 2 * 8 * static_cast<std::int64_t>(monomials.count()));
    std::uint64_t scale = field.to(1);
    const std::vector<std::uint64_t> left = product_of(monomials, field, rows, scale, work / 2, control),
                                     right = product_of(monomials, field, columns, scale, work / 2, control);
    std::vector<std::uint64_t> factorial{field.to(1)};
    for (std::int32_t k = 1; k <= monomials.degree(); ++k)
        factorial.push_back(field.multiply(factorial.back(), field.to(at(k))));
    std::uint64_t sum = 0;
    for (std::size_t m = 0; m < left.size(); ++m) {
        std::uint64_t term = field.multiply(left[m], right[m]);
        if (term == 0) continue;
        for (const std::int32_t e : monomials.exponents(m)) term = field.multiply(term, factorial[at(e)]);
        sum = field.add(sum, term);
    }
    return field.from(field.multiply(sum, scale));
}

} // namespace libperm
