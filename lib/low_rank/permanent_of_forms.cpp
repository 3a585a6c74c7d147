#include "lib/low_rank/permanent_of_forms.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace libperm {
namespace {

using Polynomial = std::vector<std::uint64_t>; // the lowest coefficient first
using View = std::span<const std::uint64_t>;

constexpr std::size_t few_forms = 16, short_polynomial = 32; // multiplied out

class PolynomialProducts {
  public:
    PolynomialProducts(const Montgomery &field, View forms, const std::function<void(std::size_t)> &done)
        : field_(field), forms_(forms), done_(done) {}

    // Halves, so that polynomials of like lengths are multiplied.
    Polynomial of(std::size_t first, std::size_t count) const {
        if (count <= few_forms) return one_by_one(first, count);
        return product(of(first, count / 2), of(first + count / 2, count - count / 2));
    }

  private:
    Polynomial one_by_one(std::size_t first, std::size_t count) const {
        Polynomial c(count + 1);
        c[0] = field_.to(1);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t a = forms_[2 * (first + i)], b = forms_[2 * (first + i) + 1];
            for (std::size_t k = i + 1; k > 0; --k)
                c[k] = field_.add(field_.multiply(c[k], a), field_.multiply(c[k - 1], b));
            c[0] = field_.multiply(c[0], a);
        }
        done_(count);
        return c;
    }

    Polynomial multiplied_out(View x, View y) const {
        const Polynomial turned(y.rbegin(), y.rend());
        Polynomial out(x.size() + y.size() - 1);
        for (std::size_t k = 0; k < out.size(); ++k) {
            const std::size_t low = k < y.size() ? 0 : k - y.size() + 1, high = std::min(k, x.size() - 1);
            out[k] = field_.sum_of_products(&x[low], &turned[y.size() - 1 - (k - low)], high - low + 1);
        }
        return out;
    }

    // Three products of halves for four (Karatsuba and Ofman, Doklady Akad. Nauk SSSR 145 (1962)).
    Polynomial product(View x, View y) const {
        const std::size_t half = (std::max(x.size(), y.size()) + 1) / 2;
        if (std::min(x.size(), y.size()) < std::max(short_polynomial, half + 1)) return multiplied_out(x, y);
        if (half > 512) done_(0);
        const View low_x = x.first(half), high_x = x.subspan(half), low_y = y.first(half),
                   high_y = y.subspan(half);
        const Polynomial low = product(low_x, low_y), high = product(high_x, high_y);
        Polynomial middle = product(sum(low_x, high_x), sum(low_y, high_y)), out(x.size() + y.size() - 1);
        std::copy(low.begin(), low.end(), out.begin());
        std::copy(high.begin(), high.end(), out.begin() + static_cast<std::ptrdiff_t>(2 * half));
        subtract(middle, low);
        subtract(middle, high);
        for (std::size_t k = 0; k < middle.size(); ++k) out[half + k] = field_.add(out[half + k], middle[k]);
        return out;
    }

    Polynomial sum(View x, View y) const { // y is not the longer one
        Polynomial out(x.begin(), x.end());
        for (std::size_t k = 0; k < y.size(); ++k) out[k] = field_.add(out[k], y[k]);
        return out;
    }
    void subtract(Polynomial &from, const Polynomial &x) const {
        for (std::size_t k = 0; k < x.size(); ++k) from[k] = field_.subtract(from[k], x[k]);
    }

    const Montgomery &field_;
    const View forms_;
    const std::function<void(std::size_t)> &done_;
};

// The next exponents of the same sum in lexicographic order; false: these are the last.
bool step(std::vector<std::int32_t> &e) {
    std::size_t q = e.size() - 1;
    while (q > 0 && e[q] == 0) --q;
    if (q == 0) return false;
    const std::int32_t left = e[q] - 1;
    e[q] = 0;
    ++e[q - 1];
    e.back() = left;
    return true;
}

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

// The coefficients of a product of linear forms, in Montgomery's form, times one more, the `forms`-th.
void multiply(std::vector<std::uint64_t> &c, const std::uint64_t *form, std::int32_t forms,
              const Monomials &monomials, const Montgomery &field) {
    const bool keeps = form[0] == field.to(1);
    for (std::size_t k = monomials.up_to(forms); k-- > 0;) {
        std::uint64_t sum = keeps ? c[k] : field.multiply(c[k], form[0]);
        for (std::int32_t t = 1; t < monomials.variables(); ++t)
            if (const std::int32_t from = monomials.divided(t)[k]; from != Monomials::none)
                sum = field.add(sum, field.multiply(c[from], form[t]));
        c[k] = sum;
    }
}

std::vector<std::uint64_t> product_of(const Monomials &monomials, const Montgomery &field,
                                      std::vector<std::uint64_t> forms, std::uint64_t &scale, double work) {
    const std::size_t r = at(monomials.variables());
    const double of_form = work / monomials.degree();
    if (r == 2) // where quotients would take as long as all the rest
        return product_of_binary_forms(
            field, forms, [&](std::size_t count) { call().advance(of_form * static_cast<double>(count)); });
    divide_forms(forms, r, field, scale);
    std::vector<std::uint64_t> product(monomials.count());
    product[0] = field.to(1);
    for (std::size_t k = 0; k < forms.size(); k += r) {
        multiply(product, &forms[k], static_cast<std::int32_t>(k / r) + 1, monomials, field);
        call().advance(of_form);
    }
    return product;
}

// Of a monomial, for one prime; of polynomials in one variable with what their products take beside them.
double bytes_at_work(std::int32_t variables) { return variables == 2 ? 64 : 16; }

} // namespace

// As measured, in units of a form times a monomial.
double products_of_binary_forms(double n) { return std::min(n * (n + 1) / 2, 4 * std::pow(n, 1.6)); }

std::vector<std::uint64_t> product_of_binary_forms(const Montgomery &field,
                                                   const std::vector<std::uint64_t> &forms,
                                                   const std::function<void(std::size_t)> &done) {
    return PolynomialProducts(field, forms, done).of(0, forms.size() / 2);
}

double monomial_count(std::int32_t n, std::int32_t variables) {
    double count = 1;
    for (std::int32_t k = 1; k < variables; ++k) count *= static_cast<double>(n + k) / k;
    return std::round(count);
}

Monomials::Monomials(std::int32_t n, std::int32_t variables) : n_(n), variables_(variables), below_{0} {
    const std::size_t written = at(variables) - 1;
    if (written == 0) {
        below_.resize(at(n) + 2, 1);
        return;
    }
    PolledSteps steps;
    divided_.resize(written);
    const auto all = static_cast<std::size_t>(monomial_count(n, variables));
    exponents_.reserve(all * written);
    for (std::vector<std::int32_t> &of_variable : divided_) of_variable.reserve(all);
    std::vector<std::int32_t> e(written);
    for (std::int32_t d = 0; d <= n; ++d) {
        // Those that have a variable, divided by it, are all of one degree less, in their order.
        std::vector<std::size_t> divided(written, d == 0 ? 0 : below_[at(d) - 1]);
        std::fill(e.begin(), e.end(), 0);
        e.back() = d;
        std::size_t count = 0;
        do {
            steps.take(8 * static_cast<std::int64_t>(written));
            exponents_.insert(exponents_.end(), e.begin(), e.end());
            for (std::size_t t = 0; t < written; ++t)
                divided_[t].push_back(e[t] == 0 ? none : static_cast<std::int32_t>(divided[t]++));
            ++count;
        } while (step(e));
        below_.push_back(below_.back() + count);
    }
}

std::vector<std::int32_t> Monomials::exponents(std::size_t monomial) const {
    const std::size_t written = at(variables_) - 1;
    std::vector<std::int32_t> e{n_};
    for (std::size_t t = 0; t < written; ++t) {
        e.push_back(exponents_[monomial * written + t]);
        e[0] -= e.back();
    }
    return e;
}

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
                                 const std::vector<std::uint64_t> &columns, double work) {
    const Charge charge(&call().memory(), static_cast<std::int64_t>(bytes_at_work(monomials.variables()) *
                                                                    static_cast<double>(monomials.count())));
    std::uint64_t scale = field.to(1);
    const std::vector<std::uint64_t> left = product_of(monomials, field, rows, scale, work / 2),
                                     right = product_of(monomials, field, columns, scale, work / 2);
    std::vector<std::uint64_t> factorial{field.to(1)};
    for (std::int32_t k = 1; k <= monomials.degree(); ++k)
        factorial.push_back(field.multiply(factorial.back(), field.to(at(k))));
    std::uint64_t sum = 0;
    PolledSteps steps;
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
