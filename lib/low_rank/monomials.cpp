#include "lib/low_rank/monomials.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace libperm {
namespace {

// All exponents of this sum, in lexicographic order.
void append_of_degree(std::int32_t degree, std::int32_t variables, std::vector<std::int32_t> &head,
                      std::vector<std::vector<std::int32_t>> &to) {
    if (variables == 0) {
        if (degree == 0) to.push_back(head);
        return;
    }
    for (std::int32_t e = variables == 1 ? degree : 0; e <= degree; ++e) {
        head.push_back(e);
        append_of_degree(degree - e, variables - 1, head, to);
        head.pop_back();
    }
}

} // namespace

double monomial_count(std::int32_t n, std::int32_t variables) {
    double count = 1;
    for (std::int32_t k = 1; k < variables; ++k) count *= static_cast<double>(n + k) / k;
    return std::round(count);
}

Monomials::Monomials(std::int32_t n, std::int32_t variables) : n_(n), variables_(variables), below_{0} {
    const std::int32_t written = variables - 1;
    divided_.resize(at(written));
    std::map<std::vector<std::int32_t>, std::int32_t> before, here; // of the last degree, of this one
    for (std::int32_t d = 0; d <= n; ++d) {
        std::vector<std::vector<std::int32_t>> all;
        std::vector<std::int32_t> head;
        append_of_degree(d, written, head, all);
        here.clear();
        for (std::vector<std::int32_t> &e : all) {
            here.emplace_hint(here.end(), e, static_cast<std::int32_t>(below_.back() + here.size()));
            exponents_.insert(exponents_.end(), e.begin(), e.end());
            for (std::int32_t t = 0; t < written; ++t) {
                std::int32_t place = none;
                if (e[at(t)] > 0) {
                    --e[at(t)];
                    place = before.at(e);
                    ++e[at(t)];
                }
                divided_[at(t)].push_back(place);
            }
        }
        below_.push_back(below_.back() + all.size());
        std::swap(before, here);
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
    if (monomials_.variables() == 2) { // the monomials are those of one variable
        for (std::size_t k = monomials_.up_to(forms_); --k > 0;)
            c[k] =
                field_.add(keeps ? c[k] : field_.multiply(c[k], form[0]), field_.multiply(c[k - 1], form[1]));
        if (!keeps) c[0] = field_.multiply(c[0], form[0]);
        return;
    }
    for (std::size_t k = monomials_.up_to(forms_); k-- > 0;) {
        std::uint64_t sum = keeps ? c[k] : field_.multiply(c[k], form[0]);
        for (std::int32_t t = 1; t < monomials_.variables(); ++t)
            if (const std::int32_t from = monomials_.divided(t)[k]; from != Monomials::none)
                sum = field_.add(sum, field_.multiply(c[from], form[t]));
        c[k] = sum;
    }
}

} // namespace libperm
