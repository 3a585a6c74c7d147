#include "lib/low_rank/permanent_of_forms.hpp"

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

} // namespace

// As measured, in units of a form times a monomial.
double products_of_binary_forms(double n) { return std::min(n * (n + 1) / 2, 4 * std::pow(n, 1.6)); }

std::vector<std::uint64_t> product_of_binary_forms(const Montgomery &field,
                                                   const std::vector<std::uint64_t> &forms,
                                                   const std::function<void(std::size_t)> &done) {
    return PolynomialProducts(field, forms, done).of(0, forms.size() / 2);
}

} // namespace libperm
