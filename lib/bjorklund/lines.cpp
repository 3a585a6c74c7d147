#include "lib/bjorklund/lines.hpp"

#include "lib/number/ball.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/scaled.hpp"
#include "lib/number/wide_value.hpp"
#include "preprocess/index.hpp"
#include "preprocess/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>

namespace libperm {
namespace {

// Sums of walks of any length are bounded by norms that count all powers of r alike
// (jit/lanes/hafnian_sum.cpp). Of graphs with a larger spectral norm the high powers outweigh the one that is
// wanted, with a smaller one the low ones do: of ones and of random numbers, signed and complex, bounds are
// near their least here.
constexpr double best_spectral_norm = 1.5;

// Powers of two leave a line within a factor sqrt(2) of what it is to come to. That is another for each, so
// that their geometric mean is what was asked for: these are 2^(-1/2 - k / 8) for k = -3, 1, -1, 3.
constexpr double spread[] = {0x1.d5818dcfba487p-1, 0x1.4bfdad5362a27p-1, 0x1.8ace5422aa0dbp-1,
                             0x1.172b83c7d517bp-1};

constexpr int most_sweeps = 16;

// Powers of two for a graph's lines, so that none outweighs the others.
class LineScales {
  public:
    // `sizes` by entry. The lines that the graph lacks of `lines` have a loop of 1.
    LineScales(const Pattern &graph, const std::vector<Scaled> &sizes, std::int32_t lines)
        : edges_(at(lines)), scale_(at(lines), 0) {
        std::size_t k = 0;
        for (std::int32_t i = 0; i < graph.rows; ++i)
            for (const std::int32_t j : graph.row(i)) {
                const Scaled &x = sizes[k++];
                if (x.mantissa == 0) continue;
                edges_[at(i)].push_back({at(j), x});
                if (i != j) edges_[at(j)].push_back({at(i), x});
            }
        for (std::size_t i = at(graph.rows); i < edges_.size(); ++i) edges_[i].push_back({i, {0.5, 1}});

        std::vector<std::int64_t> first = scale_;
        for (std::size_t i = 0; i < edges_.size(); ++i)
            if (!edges_[i].empty()) first[i] = -exponent_at(i, 1) / 2;
        scale_ = std::move(first);
    }

    // By line, exponents s: the sizes of an edge times 2^(s_i + s_j) and of a loop times 2^s_i add up, at
    // each line, to about `sum`. Line by line, as Sinkhorn does.
    const std::vector<std::int64_t> &with_sums(double sum) {
        bool changed = true;
        for (int sweep = 0; sweep < most_sweeps && changed; ++sweep) {
            changed = false;
            for (std::size_t i = 0; i < edges_.size(); ++i) {
                if (edges_[i].empty()) continue;
                const std::int64_t to = -exponent_at(i, sum);
                changed = changed || to != scale_[i];
                scale_[i] = to;
            }
        }
        return scale_;
    }

  private:
    struct Edge {
        std::size_t other; // its own line: a loop
        Scaled size;
    };

    // Of the sum at a line, but for the line's own scale, in units of what it is to come to.
    std::int64_t exponent_at(std::size_t line, double sum) const {
        const auto exp2 = [&](const Edge &e) {
            return e.size.exp2 + (e.other == line ? 0 : scale_[e.other]);
        };
        std::int64_t top = std::numeric_limits<std::int64_t>::min();
        for (const Edge &e : edges_[line]) top = std::max(top, exp2(e));
        double sizes = 0;
        for (const Edge &e : edges_[line])
            sizes +=
                std::ldexp(e.size.mantissa, static_cast<int>(std::max<std::int64_t>(exp2(e) - top, -100)));
        int exponent = 0;
        std::frexp(sizes * (spread[line % std::size(spread)] / sum), &exponent);
        return top + exponent;
    }

    std::vector<std::vector<Edge>> edges_; // by line
    std::vector<std::int64_t> scale_;
};

constexpr double underflow = 0x1p-1070; // of all parts of a number

// put(entry k of the pattern, lines i and j, the last being the loops'); and the loop that is added.
template <class Put, class PutOne>
void for_pairs(const LineNumbers &of, const Pattern &graph, const Put &put, const PutOne &put_one) {
    const std::int32_t loops = 2 * of.pairs;
    std::size_t k = 0;
    for (std::int32_t i = 0; i < graph.rows; ++i)
        for (const std::int32_t j : graph.row(i)) put(k++, i, j == i ? loops : j);
    if (graph.rows < loops) put_one(graph.rows, loops);
}

LineNumbers no_numbers(const BjorklundPlan &plan, Arithmetic arithmetic) {
    LineNumbers numbers{arithmetic, plan.pairs, plan.has_loops, {}, {}};
    const std::size_t pairs = at(numbers.lines()) * at(numbers.lines() - 1) / 2;
    numbers.entries.assign(pairs * at(parts_of(arithmetic)), 0);
    numbers.errors.assign(pairs, 0);
    return numbers;
}

// f(i, j, number of the entry) for lines i < j, the last of them the loops' one.
template <class F> void for_entries(const LineNumbers &of, const F &f) {
    std::size_t k = 0;
    for (std::int32_t i = 0; i < of.lines(); ++i)
        for (std::int32_t j = i + 1; j < of.lines(); ++j) f(at(i), at(j), k++);
}

// About that of the edges, by a few steps of the power method for singular values, and a loop's mean size: of
// nonnegative numbers what the lines' sums are.
double spectral_norm(const LineNumbers &numbers) {
    using Complex = std::complex<double>;
    constexpr int steps = 5;
    const std::size_t n = at(2 * numbers.pairs), parts = at(parts_of(numbers.arithmetic));
    double norm = 0, loops = 0;
    std::vector<Complex> x(n, 1);
    for (int step = 0; step < steps; ++step) {
        std::vector<Complex> y(n);
        loops = 0;
        for_entries(numbers, [&](std::size_t i, std::size_t j, std::size_t k) {
            const double *const p = &numbers.entries[k * parts];
            const Complex a(p[0], is_complex(numbers.arithmetic) ? p[parts / 2] : 0);
            if (j == n) {
                loops += std::sqrt(std::norm(a));
            } else {
                y[i] += a * x[j];
                y[j] += a * x[i];
            }
        });
        double squares = 0;
        for (const Complex &z : y) squares += std::norm(z);
        norm = std::sqrt(squares / static_cast<double>(n));
        if (!(norm > 0)) break;
        for (std::size_t i = 0; i < n; ++i) x[i] = std::conj(y[i]) / norm;
    }
    return norm + loops / static_cast<double>(n);
}

void rescale(LineNumbers &numbers, const std::vector<std::int64_t> &to) {
    std::vector<std::int64_t> by = to;
    for (std::size_t i = 0; i < by.size(); ++i) by[i] -= numbers.scale[i];
    numbers.scale = to;
    const std::size_t n = by.size(), parts = at(parts_of(numbers.arithmetic));
    for (const std::int64_t s : by) numbers.exp2 -= s;
    for_entries(numbers, [&](std::size_t i, std::size_t j, std::size_t k) {
        const double factor = std::ldexp(1.0, ldexp_exponent(by[i] + (j < n ? by[j] : 0)));
        for (std::size_t part = 0; part < parts; ++part) numbers.entries[k * parts + part] *= factor;
        numbers.errors[k] = numbers.errors[k] * factor + underflow;
    });
}

// Products of ten such are far from the ends of doubles' range.
bool are_moderate(const std::vector<Scaled> &sizes) {
    constexpr std::int64_t most = 60;
    return std::all_of(sizes.begin(), sizes.end(),
                       [](const Scaled &x) { return x.mantissa == 0 || (-most < x.exp2 && x.exp2 < most); });
}

// Scaled by powers of two of the lines, `sizes` being the entries' ones: so that the spectral norm is the
// best one, or smaller than that where lines would weigh too much. scaled(entry, exp2, parts) says how wrong
// the parts of the entry times 2^exp2 can be.
template <class Value, class ScaledParts>
LineNumbers scaled_numbers(const BjorklundPlan &plan, const BlockOf<Value> &block,
                           const std::vector<Scaled> &sizes, Arithmetic arithmetic,
                           const ScaledParts &scaled) {
    constexpr double most_sum = 4 * best_spectral_norm;
    LineNumbers numbers = no_numbers(plan, arithmetic);
    const std::int32_t loops = 2 * plan.pairs;
    std::optional<LineScales> scales;
    if (plan.by_definition() && are_moderate(sizes)) {
        numbers.scale.assign(at(loops), 0);
    } else {
        scales.emplace(block.pattern, sizes, loops);
        numbers.scale = scales->with_sums(best_spectral_norm); // of nonnegative numbers
    }
    const std::vector<std::int64_t> scale = numbers.scale;
    for (const std::int64_t s : scale) numbers.exp2 -= s;
    const auto put = [&](const Value &x, std::int32_t i, std::int32_t j) {
        const std::size_t to = numbers.place(i, j);
        const std::int64_t exp2 = scale[at(i)] + (j < loops ? scale[at(j)] : 0);
        numbers.errors[to] = scaled(x, exp2, &numbers.entries[to * at(parts_of(arithmetic))]) + underflow;
    };
    for_pairs(
        numbers, block.pattern,
        [&](std::size_t k, std::int32_t i, std::int32_t j) { put(block.values[k], i, j); },
        [&](std::int32_t i, std::int32_t j) { put(number_one<Value>(), i, j); });
    if (plan.by_definition()) return numbers;
    const double norm = spectral_norm(numbers);
    if (!(norm < best_spectral_norm)) return numbers;
    rescale(numbers, scales->with_sums(std::min(most_sum, best_spectral_norm * best_spectral_norm / norm)));
    return numbers;
}

double scaled_double(const Tracked &x, std::int64_t exp2, double *to) {
    const int by = ldexp_exponent(x.exp2 + exp2);
    *to = std::ldexp(x.value, by);
    if (x.roundings == 0) return 0;
    // The entry's own error is at most gamma M, and (1 - gamma) M its magnitude.
    return rounding_error(x.roundings, 0x1p-53, std::ldexp(x.magnitude, by));
}

// Cut to a double; whether it is one.
bool is_double(const mpq_class &x, Scaled &cut) {
    long num_exp2 = 0, den_exp2 = 0;
    const double num = mpz_get_d_2exp(&num_exp2, x.get_num_mpz_t()),
                 den = mpz_get_d_2exp(&den_exp2, x.get_den_mpz_t());
    cut = make_scaled(num / den, num_exp2 - den_exp2);
    return mpz_sizeinbase(x.get_num_mpz_t(), 2) <= 53 &&
           mpz_scan1(x.get_den_mpz_t(), 0) + 1 == mpz_sizeinbase(x.get_den_mpz_t(), 2);
}

// A double's part has no others.
double scaled_parts(const Gaussian &x, std::int64_t exp2, Arithmetic arithmetic, double *to) {
    const auto in_part = [&](int part) -> double & { return to[is_dd(arithmetic) ? 2 * part : part]; };
    Scaled re, im;
    if (is_double(x.re, re) && is_double(x.im, im)) {
        in_part(0) = std::ldexp(re.mantissa, ldexp_exponent(re.exp2 + exp2));
        if (is_complex(arithmetic)) in_part(1) = std::ldexp(im.mantissa, ldexp_exponent(im.exp2 + exp2));
        return 0;
    }
    const Parts parts = parts_of(x, -exp2, arithmetic);
    const std::size_t step = is_dd(arithmetic) ? 1 : 2;
    for (std::size_t k = 0; k < at(parts_of(arithmetic)); ++k) to[k] = parts[step * k];
    return unit_of(arithmetic) * (std::fabs(parts[0]) + std::fabs(parts[2]));
}

// To some digits.
Scaled size_about(const Scaled &re, const Scaled &im) {
    if (re.mantissa == 0 || im.mantissa == 0) {
        const Scaled &part = re.mantissa == 0 ? im : re;
        return {std::fabs(part.mantissa), part.exp2};
    }
    const std::int64_t exp2 = std::max(re.exp2, im.exp2);
    const auto part = [&](const Scaled &y) {
        return std::ldexp(std::fabs(y.mantissa), ldexp_exponent(y.exp2 - exp2));
    };
    return make_scaled(part(re) + part(im), exp2);
}
Scaled size_about(const Gaussian &x) {
    Scaled re, im;
    is_double(x.re, re);
    is_double(x.im, im);
    return size_about(re, im);
}

} // namespace

std::size_t LineNumbers::place(std::int32_t i, std::int32_t j) const {
    return at(i) * at(2 * lines() - i - 1) / 2 + at(j - i - 1);
}

LineNumbers numbers_of_lines(const BjorklundPlan &plan, const Block &block) {
    std::vector<Scaled> sizes;
    for (const Tracked &x : block.values) sizes.push_back({x.magnitude, x.exp2});
    return scaled_numbers(plan, block, sizes, Arithmetic::real, scaled_double);
}

LineNumbers numbers_of_lines(const BjorklundPlan &plan, const ExactBlock &block, Arithmetic arithmetic) {
    const bool real =
        std::all_of(block.values.begin(), block.values.end(), [](const Gaussian &x) { return is_real(x); });
    if (real) arithmetic = is_dd(arithmetic) ? Arithmetic::dd : Arithmetic::real;
    std::vector<Scaled> sizes;
    for (const Gaussian &x : block.values) sizes.push_back(size_about(x));
    return scaled_numbers(plan, block, sizes, arithmetic,
                          [=](const Gaussian &x, std::int64_t exp2, double *to) {
                              return scaled_parts(x, exp2, arithmetic, to);
                          });
}

LineNumbers numbers_of_lines(const BjorklundPlan &plan, const DoublesGraph &graph, bool dd) {
    const bool real = is_real(graph);
    const Arithmetic arithmetic =
        real ? (dd ? Arithmetic::dd : Arithmetic::real) : (dd ? Arithmetic::complex_dd : Arithmetic::complex);
    std::vector<Scaled> sizes;
    sizes.reserve(graph.values.size());
    for (const std::complex<double> &x : graph.values)
        sizes.push_back(size_about(make_scaled(x.real()), make_scaled(x.imag())));
    return scaled_numbers(plan, graph, sizes, arithmetic,
                          [=](const std::complex<double> &x, std::int64_t exp2, double *to) {
                              const int by = ldexp_exponent(exp2);
                              to[0] = std::ldexp(x.real(), by);
                              if (!real) to[dd ? 2 : 1] = std::ldexp(x.imag(), by);
                              return 0.0;
                          });
}

LineNumbers numbers_of_lines(const BjorklundPlan &plan, const Residues &residues, std::size_t matrix) {
    LineNumbers numbers = no_numbers(plan, Arithmetic::modular);
    numbers.prime = static_cast<double>(residues.primes[matrix]);
    for_pairs(
        numbers, residues.pattern,
        [&](std::size_t k, std::int32_t i, std::int32_t j) {
            const auto x = static_cast<double>(residues.values[matrix][k]);
            numbers.entries[numbers.place(i, j)] = 2 * x > numbers.prime ? x - numbers.prime : x;
        },
        [&](std::int32_t i, std::int32_t j) { numbers.entries[numbers.place(i, j)] = 1; });
    return numbers;
}

} // namespace libperm
