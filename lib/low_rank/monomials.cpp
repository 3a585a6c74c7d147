#include "lib/low_rank/monomials.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

// Of exponents in lexicographic order, those of one sum.
class LexicographicOrder {
  public:
    // Of sums up to n.
    LexicographicOrder(std::int32_t n, std::size_t variables)
        : variables_(variables), sums_(at(n) + 1), up_to_(variables * sums_, 1) {
        for (std::size_t k = 1; k < variables; ++k)
            for (std::size_t sum = 0; sum < sums_; ++sum)
                up_to_[k * sums_ + sum] =
                    up_to_[(k - 1) * sums_ + sum] + (sum > 0 ? up_to_[k * sums_ + sum - 1] : 0);
    }

    // How many come before; each exponent has the smaller ones before it, with all of the rest.
    std::int64_t place(const std::int32_t *e, std::int32_t sum) const {
        std::int64_t before = 0;
        for (std::size_t t = 0; t + 1 < variables_; ++t) {
            const std::int64_t *const rest = &up_to_[(variables_ - 1 - t) * sums_];
            before += rest[sum] - rest[sum - e[t]];
            sum -= e[t];
        }
        return before;
    }

    // The next ones; false: these are the last.
    bool step(std::int32_t *e) const {
        std::size_t q = variables_ - 1;
        while (q > 0 && e[q] == 0) --q;
        if (q == 0) return false;
        const std::int32_t left = e[q] - 1;
        e[q] = 0;
        ++e[q - 1];
        e[variables_ - 1] = left;
        return true;
    }

  private:
    std::size_t variables_, sums_;
    std::vector<std::int64_t> up_to_; // exponents of so many variables whose sum is at most that
};

// Of exponents of this sum less one of variable t, among all monomials.
std::int32_t place_divided(const LexicographicOrder &order, std::vector<std::int32_t> &e, std::size_t t,
                           std::int32_t sum, const std::vector<std::size_t> &below) {
    if (e[t] == 0) return Monomials::none;
    --e[t];
    const std::int64_t place = order.place(e.data(), sum - 1);
    ++e[t];
    return static_cast<std::int32_t>(static_cast<std::int64_t>(below[at(sum) - 1]) + place);
}

} // namespace

double monomial_count(std::int32_t n, std::int32_t variables) {
    double count = 1;
    for (std::int32_t k = 1; k < variables; ++k) count *= static_cast<double>(n + k) / k;
    return std::round(count);
}

Monomials::Monomials(std::int32_t n, std::int32_t variables, const Poll &poll)
    : n_(n), variables_(variables), below_{0} {
    const std::size_t written = at(variables) - 1;
    if (written == 0) {
        below_.resize(at(n) + 2, 1);
        return;
    }
    const LexicographicOrder order(n, written);
    PolledSteps steps(poll);
    divided_.resize(written);
    const auto all = static_cast<std::size_t>(monomial_count(n, variables));
    exponents_.reserve(all * written);
    for (std::vector<std::int32_t> &of_variable : divided_) of_variable.reserve(all);
    std::vector<std::int32_t> e(written);
    for (std::int32_t d = 0; d <= n; ++d) {
        std::fill(e.begin(), e.end(), 0);
        e.back() = d;
        std::size_t count = 0;
        do {
            steps.take(8 * static_cast<std::int64_t>(written));
            exponents_.insert(exponents_.end(), e.begin(), e.end());
            for (std::size_t t = 0; t < written; ++t)
                divided_[t].push_back(place_divided(order, e, t, d, below_));
            ++count;
        } while (order.step(e.data()));
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

LinearProduct::LinearProduct(const Monomials &monomials, const Montgomery &field)
    : monomials_(monomials), field_(field), coefficients_(monomials.count()) {
    coefficients_[0] = field.to(1);
}

void LinearProduct::multiply(const std::uint64_t *form) {
    ++forms_;
    std::uint64_t *const c = coefficients_.data();
    const bool keeps = form[0] == field_.to(1);
    for (std::size_t k = monomials_.up_to(forms_); k-- > 0;) {
        std::uint64_t sum = keeps ? c[k] : field_.multiply(c[k], form[0]);
        for (std::int32_t t = 1; t < monomials_.variables(); ++t)
            if (const std::int32_t from = monomials_.divided(t)[k]; from != Monomials::none)
                sum = field_.add(sum, field_.multiply(c[from], form[t]));
        c[k] = sum;
    }
}

} // namespace libperm
