#include "lib/low_rank/integer_factors.hpp"

#include "lib/low_rank/permanent_of_forms.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace libperm {
namespace {

using Line = std::vector<Gaussian>;

// u v^T, of which A is a sum.
struct Term {
    Line u, v;
};

std::vector<Term> terms_of(ExactBlock &&u, ExactBlock &&v) {
    const std::size_t rank = at(u.pattern.cols);
    std::vector<Term> terms(rank);
    PolledSteps steps;
    for (std::size_t k = 0; k < u.values.size(); ++k) {
        steps.take(4);
        terms[k % rank].u.push_back(std::move(u.values[k]));
        terms[k % rank].v.push_back(std::move(v.values[k]));
    }
    return terms;
}

Line::const_iterator first_entry(const Line &x) {
    return std::find_if(x.begin(), x.end(), [](const Gaussian &entry) { return !is_zero(entry); });
}
bool is_zero_line(const Line &x) { return first_entry(x) == x.end(); }

// What y is x times, if it is; neither is 0.
std::optional<Gaussian> ratio(const Line &y, const Line &x, PolledSteps &steps) {
    const auto first = at(first_entry(x) - x.begin());
    if (is_zero(y[first])) return {};
    const Gaussian of = y[first] / x[first];
    for (std::size_t i = 0; i < x.size(); ++i) {
        steps.take(64);
        if (!(y[i] == of * x[i])) return {};
    }
    return of;
}

// Adds one term to another whose `side` it has in proportion: x (y + c z)^T = x y^T + (c x) z^T.
bool merge(std::vector<Term> &terms, Line Term::*side, Line Term::*other, PolledSteps &steps) {
    for (std::size_t t = 1; t < terms.size(); ++t)
        for (std::size_t s = 0; s < t; ++s)
            if (const auto c = ratio(terms[t].*side, terms[s].*side, steps)) {
                for (std::size_t i = 0; i < (terms[s].*other).size(); ++i) {
                    steps.take(64);
                    Gaussian &x = (terms[s].*other)[i];
                    x = x + *c * (terms[t].*other)[i];
                }
                terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(t));
                return true;
            }
    return false;
}

void leave_out(std::vector<Term> &terms) {
    constexpr std::size_t most = 64; // of more, some in proportion do not help
    PolledSteps steps;
    do std::erase_if(terms, [](const Term &x) { return is_zero_line(x.u) || is_zero_line(x.v); });
    while (terms.size() <= most &&
           (merge(terms, &Term::u, &Term::v, steps) || merge(terms, &Term::v, &Term::u, steps)));
}

// The matrix itself, beside that of 1.
void multiply_out(ExactBlock &u, ExactBlock &v) {
    const std::size_t n = at(u.pattern.rows), rank = at(u.pattern.cols);
    PolledSteps steps;
    ExactBlock product, one;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            Gaussian sum;
            for (std::size_t t = 0; t < rank; ++t) {
                steps.take(128);
                sum = sum + u.values[i * rank + t] * v.values[j * rank + t];
            }
            product.values.push_back(std::move(sum));
            one.values.push_back({i == j ? 1 : 0, 0});
        }
    for (ExactBlock *block : {&product, &one}) {
        Pattern &p = block->pattern;
        p.rows = p.cols = static_cast<std::int32_t>(n);
        for (std::size_t k = 0; k < n * n; ++k) p.col.push_back(static_cast<std::int32_t>(k % n));
        for (std::size_t i = 1; i <= n; ++i) p.row_ptr.push_back(static_cast<std::int64_t>(i * n));
    }
    u = std::move(product);
    v = std::move(one);
}

// Leaves u without a divisor in common: what u is larger by than v, or smaller, is no matter of its rows.
void balance(Term &term) {
    PolledSteps steps;
    mpq_class common = 0;
    for (const Gaussian &x : term.u)
        for (const mpq_class *part : {&x.re, &x.im}) {
            steps.take(32);
            if (*part == 0) continue;
            common.get_num() = gcd(common.get_num(), part->get_num());
            common.get_den() = lcm(common.get_den(), part->get_den());
        }
    common.canonicalize();
    const Gaussian times{common, 0}, over{1 / common, 0};
    for (std::size_t i = 0; i < term.u.size(); ++i) {
        steps.take(64);
        term.u[i] = term.u[i] * over;
        term.v[i] = term.v[i] * times;
    }
}

ExactBlock block_of(std::vector<Term> &terms, Line Term::*side, std::int32_t n) {
    PolledSteps steps;
    ExactBlock block;
    block.pattern.rows = n;
    block.pattern.cols = static_cast<std::int32_t>(terms.size());
    for (std::size_t i = 0; i < at(n); ++i) {
        for (std::size_t t = 0; t < terms.size(); ++t) {
            steps.take(4);
            block.pattern.col.push_back(static_cast<std::int32_t>(t));
            block.values.push_back(std::move((terms[t].*side)[i]));
        }
        block.pattern.row_ptr.push_back(std::ssize(block.values));
    }
    return block;
}

mpz_class size_of_entry(const IntegerBlock &a, std::size_t k) {
    return a.im.empty() ? abs(a.re[k]) : mpz_class(abs(a.re[k]) + abs(a.im[k]));
}

bool has_zero_row(const IntegerBlock &a) {
    for (std::int32_t i = 0; i < a.pattern.rows; ++i) {
        const auto is_zero_at = [&](std::size_t k) { return a.re[k] == 0 && (a.im.empty() || a.im[k] == 0); };
        bool is_zero = true;
        for (std::size_t k = at(a.pattern.row_begin(i)); k < at(a.pattern.row_begin(i + 1)); ++k)
            is_zero = is_zero && is_zero_at(k);
        if (is_zero) return true;
    }
    return false;
}

// log2 prod_i sum_t |x_it| sum_j |y_jt|, or more.
double bits_by_rows(const IntegerBlock &x, const IntegerBlock &y) {
    PolledSteps steps;
    const std::size_t rank = at(x.pattern.cols);
    std::vector<mpz_class> sum(rank);
    for (std::size_t k = 0; k < y.re.size(); ++k) {
        steps.take(16);
        sum[k % rank] += size_of_entry(y, k);
    }
    double bits = 2; // a sign, and what these sums of logarithms are rounded by
    for (std::size_t k = 0; k < x.re.size(); k += rank) {
        mpz_class row = 0;
        for (std::size_t t = 0; t < rank; ++t) {
            steps.take(32);
            row += size_of_entry(x, k + t) * sum[t];
        }
        signed long exp2 = 0;
        const double mantissa = mpz_get_d_2exp(&exp2, row.get_mpz_t());
        if (mantissa > 0) bits += static_cast<double>(exp2) + std::log2(mantissa) + 1e-9;
    }
    return std::ceil(bits);
}

} // namespace

IntegerFactors integer_factors(ExactBlock u, ExactBlock v) {
    const std::int32_t n = u.pattern.rows;
    if (u.pattern.cols > n && monomial_count(n, n) <= most_monomials) multiply_out(u, v);
    std::vector<Term> terms = terms_of(std::move(u), std::move(v));
    leave_out(terms);
    for (Term &term : terms) balance(term);
    IntegerFactors out{integer_rows(block_of(terms, &Term::u, n)), integer_rows(block_of(terms, &Term::v, n)),
                       false};
    out.has_zero_line = has_zero_row(out.u) || has_zero_row(out.v);
    return out;
}

std::int64_t permanent_bits(const IntegerFactors &factors) {
    return static_cast<std::int64_t>(
        std::min(bits_by_rows(factors.u, factors.v), bits_by_rows(factors.v, factors.u)));
}

} // namespace libperm
