#include "lib/low_rank/permanent_of_forms.hpp"

#include "lib/low_rank/binary_forms.hpp"
#include "preprocess/index.hpp"

#include <algorithm>

namespace libperm {
namespace {

// Divides each form by its first coefficient, unless that is 0; `scale` is multiplied by these.
void divide_forms(std::vector<std::uint64_t> &forms, std::size_t variables, const Montgomery &field,
                  std::uint64_t &scale) {
    for (std::size_t k = 0; k < forms.size(); k += variables) {
        if (forms[k] == 0) continue;
        scale = field.multiply(scale, forms[k]);
        const std::uint64_t inverse = field.power(forms[k], field.prime() - 2);
        for (std::size_t t = 0; t < variables; ++t) forms[k + t] = field.multiply(forms[k + t], inverse);
    }
}

std::vector<std::uint64_t> product_of(const Monomials &monomials, const Montgomery &field,
                                      std::vector<std::uint64_t> forms, std::uint64_t &scale, double work,
                                      RunControl &control) {
    const std::size_t r = at(monomials.variables());
    const double of_form = work / monomials.degree();
    if (r == 2) // where quotients would take as long as all the rest
        return product_of_binary_forms(
            field, forms, [&](std::size_t count) { control.advance(of_form * static_cast<double>(count)); });
    divide_forms(forms, r, field, scale);
    LinearProduct product(monomials, field);
    for (std::size_t k = 0; k < forms.size(); k += r) {
        product.multiply(&forms[k]);
        control.advance(of_form);
    }
    return product.coefficients();
}

// Of a monomial, for one prime; of polynomials in one variable with what their products take beside them.
double bytes_at_work(std::int32_t variables) { return variables == 2 ? 64 : 16; }

} // namespace

double products_of_forms(std::int32_t n, std::int32_t variables) {
    if (variables == 2) return 2 * products_of_binary_forms(n);
    return 2.0 * n * monomial_count(n, variables) / variables * std::max(1, variables - 1);
}

double bytes_of_forms(std::int32_t n, std::int32_t variables, double primes) {
    const double table = 8.0 * std::max(1, variables - 1) + 16; // exponents, and what each is divided by
    return monomial_count(n, variables) * (bytes_at_work(variables) * primes + table);
}

std::uint64_t permanent_of_forms(const Monomials &monomials, const Montgomery &field,
                                 const std::vector<std::uint64_t> &rows,
                                 const std::vector<std::uint64_t> &columns, double work,
                                 RunControl &control) {
    const Charge charge(&control.memory(), static_cast<std::int64_t>(bytes_at_work(monomials.variables()) *
                                                                     static_cast<double>(monomials.count())));
    std::uint64_t scale = field.to(1);
    const std::vector<std::uint64_t> left = product_of(monomials, field, rows, scale, work / 2, control),
                                     right = product_of(monomials, field, columns, scale, work / 2, control);
    std::vector<std::uint64_t> factorial{field.to(1)};
    for (std::int32_t k = 1; k <= monomials.degree(); ++k)
        factorial.push_back(field.multiply(factorial.back(), field.to(at(k))));
    std::uint64_t sum = 0;
    const Poll poll = [&control] { control.poll(); };
    PolledSteps steps(poll);
    for (std::size_t m = 0; m < left.size(); ++m) {
        steps.take(32);
        std::uint64_t term = field.multiply(left[m], right[m]);
        if (term == 0) continue;
        for (const std::int32_t e : monomials.exponents(m)) term = field.multiply(term, factorial[at(e)]);
        sum = field.add(sum, term);
    }
    return field.from(field.multiply(sum, scale));
}

} // namespace libperm
