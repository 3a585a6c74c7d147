#include "lib/low_rank/product_task.hpp"

#include "jit/text/text.hpp"
#include "lib/base/log.hpp"
#include "lib/base/system.hpp"
#include "lib/low_rank/permanent_of_forms.hpp"
#include "lib/number/chinese_remainder.hpp"
#include "lib/number/state_number.hpp"
#include "lib/run/candidates.hpp"
#include "lib/run/escalation.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <array>
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

using Part = std::array<std::uint64_t, 2>; // by root of -1 modulo the prime; of integers the first

std::int64_t bytes_of_numbers(const IntegerBlock &a) {
    std::int64_t bytes = bytes_of(a.pattern);
    for (const auto *part : {&a.re, &a.im})
        for (const mpz_class &x : *part) bytes += integer_bytes(x);
    return bytes;
}

std::int64_t entries_of(const IntegerBlock &a) {
    std::int64_t count = 0;
    for (std::size_t k = 0; k < a.re.size(); ++k) count += a.re[k] != 0 || (!a.im.empty() && a.im[k] != 0);
    return count;
}

std::vector<std::uint64_t> in_field(std::vector<std::uint64_t> values, const Montgomery &field) {
    for (std::uint64_t &x : values) x = field.to(x);
    return values;
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

ProductTask::ProductTask(const perm_factors *given, const Options &options)
    : options_(options), charge_(&call().memory()) {
    Factors read = read_factors(given, &call().memory());
    of_doubles_ = read.value_type == PERM_VALUE_F64 || read.value_type == PERM_VALUE_C128;
    digest_ = std::move(read.digest);
    charge_.resize(read.charge.bytes());
    factors_ = integer_factors(std::move(read.u), std::move(read.v));
    charge_.resize(bytes_of_numbers(factors_.u) + bytes_of_numbers(factors_.v));
    entries_ = entries_of(factors_.u) + entries_of(factors_.v);
    if (is_known()) return;
    bits_ = permanent_bits(factors_);
    require_limits();
}

double ProductTask::residues() const {
    return static_cast<double>(bits_ / residue_bits + 1) * (factors_.is_gaussian() ? 2 : 1);
}

double ProductTask::products() const { return products_of_forms(factors_.n(), factors_.rank()); }

double ProductTask::serial_seconds() const {
    return is_known() ? 0 : call_seconds + product_seconds * products() * residues();
}

void ProductTask::require_limits() const {
    const double monomials = monomial_count(factors_.n(), factors_.rank()),
                 bytes = bytes_of_forms(factors_.n(), factors_.rank(), 1);
    const std::string what = formatted("polynomials in {} variables of degree {} with {:.3g} monomials",
                                       factors_.rank(), n(), monomials);
    if (monomials > most_monomials)
        throw Error(
            PERM_REFUSED_MEMORY,
            formatted("{}, {}; 2^24 monomials are the most\n  where n is small, compute the matrix U V^T "
                      "and take its permanent (perm_compute)",
                      what, readable_bytes(bytes)));
    if (bytes > static_cast<double>(options_.memory_limit))
        throw refused_for_memory(what + ": " + readable_bytes(bytes),
                                 static_cast<double>(options_.memory_limit),
                                 "raise the limit: memory_limit_bytes");
    const double seconds = serial_seconds() / std::min<double>(residues(), options_.threads);
    if (seconds > options_.refuse_seconds)
        throw refused_for_time(formatted("{}, modulo {:.3g} primes:", what, residues()), seconds, options_);
}

TaskIdentity ProductTask::identity() const { return {TaskIdentity::product, {{digest_, "other factors"}}}; }

ShardCount ProductTask::shards() const {
    return shards_of(serial_seconds(), factors_.is_gaussian() ? residues() / 2 : residues());
}

KeptAbout ProductTask::about() const {
    return {n(), entries_, engine_name(is_known() ? Engine::none : Engine::low_rank),
            serial_seconds() / options_.threads};
}

Gaussian ProductTask::permanent(PieceStore *store) const {
    const std::size_t each = factors_.is_gaussian() ? 2 : 1;
    const std::vector<std::uint64_t> primes = enough_primes(bits_, {residue_bits, each == 2});
    const double share = store ? store->share() : 1, work = static_cast<double>(each) * products();
    const double all = static_cast<double>(primes.size()) * products();
    log_decision(formatted("a product of rank {}: {:.3g} monomials, modulo {} primes", factors_.rank(),
                           monomial_count(factors_.n(), factors_.rank()), primes.size() / each));
    call().begin(share * all, share * serial_seconds() / options_.threads);
    CurrentCall own(1, PieceScope{store, {}});
    const double shared = bytes_of_forms(factors_.n(), factors_.rank(), 0),
                 of_prime = bytes_of_forms(factors_.n(), factors_.rank(), 1) - shared;
    const Charge charge(&call().memory(), static_cast<std::int64_t>(shared));
    const Monomials monomials(factors_.n(), factors_.rank());
    const auto modulo = [&](std::uint64_t k) {
        const std::vector<std::uint64_t> prime(each, primes[each * k]);
        const Residues u = residues_of(factors_.u.pattern, factors_.u.re, factors_.u.im, prime),
                       v = residues_of(factors_.v.pattern, factors_.v.re, factors_.v.im, prime);
        const Montgomery field(prime[0]);
        Part part{};
        for (std::size_t m = 0; m < each; ++m)
            part[m] = permanent_of_forms(monomials, field, in_field(u.values[m], field),
                                         in_field(v.values[m], field), products());
        return part;
    };
    const std::vector<Part> parts =
        parts_of_pieces(primes.size() / each, work, Part{}, each_on_its_thread(modulo, of_prime));
    std::vector<std::uint64_t> residues;
    for (const Part &part : parts) residues.insert(residues.end(), part.begin(), part.begin() + each);
    return from_residues(primes, residues, each == 2, &call().memory()) *
           Gaussian{factors_.u.factor * factors_.v.factor, 0};
}

Outcome ProductTask::run(PieceStore *store, const Told &) const {
    Outcome outcome;
    outcome.predicted_seconds = serial_seconds();
    if (is_known()) {
        set_value(outcome, WideBall{{n() == 0 ? 1 : 0, 0}, {}});
    } else {
        set_value(outcome, WideBall{permanent(store), {}});
        outcome.engine = Engine::low_rank;
        outcome.blocks = outcome.blocks_computed = 1;
        outcome.counts.operations = products() * residues();
    }
    outcome.counts.peak_bytes = call().memory().peak();
    if (!of_doubles_ || options_.precision == Precision::exact) return outcome;
    Outcome in_doubles = outcome;
    round_value(in_doubles);
    const bool is_enough = Escalation(options_).is_met(in_doubles.rel_error_bound, in_doubles.exact);
    return is_enough ? in_doubles : outcome;
}

} // namespace libperm
