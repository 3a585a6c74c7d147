// Engine ryser's sums in each kind of numbers: modulo primes, and in doubles, complex and double-double
// numbers.

#include "jit/lanes/count_sum.hpp"
#include "jit/number/number.hpp"
#include "jit/number/partial.hpp"
#include "lib/number/block_grids.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/residues.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/run/results.hpp"
#include "lib/ryser/engine.hpp"
#include "lib/ryser/walk.hpp"
#include "preprocess/index.hpp"

#include <cmath>
#include <type_traits>
#include <vector>

namespace libperm {
namespace {

class ModularRing {
  public:
    using RowSum = std::uint64_t;
    using Product = std::uint64_t;
    struct Total {
        std::uint64_t sum = 0;
    };
    static constexpr std::uint64_t run_length = 4096;

    explicit ModularRing(std::uint64_t p) : field_(p), half_(field_.to((p + 1) / 2)) {}

    const Montgomery &field() const { return field_; }

    static RowSum zero() { return 0; }
    Product one() const { return field_.to(1); }
    static Total total() { return {}; }

    void add(RowSum &to, RowSum x) const { to = field_.add(to, x); }
    void subtract(RowSum &to, RowSum x) const { to = field_.subtract(to, x); }
    void halve(RowSum &x) const { x = field_.multiply(x, half_); }
    static bool is_zero(RowSum x) { return x == 0; }
    static void round(Product &to, RowSum x) { to = x; }
    void multiply(Product &to, Product x) const { to = field_.multiply(to, x); }

    // By the ratios of neighbours; 1 / i = -[p / i] / (p mod i), which has been met.
    std::vector<Product> weights(std::int32_t m) const {
        const std::uint64_t p = field_.prime();
        const auto size = static_cast<std::size_t>(m) + 1;
        std::vector<Product> inverse(size, one()), choices(size, one());
        for (std::size_t i = 2; i < size; ++i)
            inverse[i] = field_.subtract(0, field_.multiply(field_.to(p / i), inverse[p % i]));
        for (std::size_t k = 1; k < size; ++k)
            choices[k] = field_.multiply(choices[k - 1], field_.multiply(field_.to(size - k), inverse[k]));
        return choices;
    }

    void add(Total &to, Product term, bool negative) const {
        to.sum = negative ? field_.subtract(to.sum, term) : field_.add(to.sum, term);
    }
    void add(Total &to, Total x) const { to.sum = field_.add(to.sum, x.sum); }

  private:
    Montgomery field_;
    std::uint64_t half_;
};

EngineResult sum_of_residues(const RyserPlan &plan, const Residues &residues) {
    // Each sum has the values of its columns, and the row that they stand in.
    const auto entries = static_cast<std::int64_t>(residues.primes.size()) * residues.pattern.nnz();
    const Charge charge(&call().memory(), plan.counted ? 0 : 24 * entries);
    std::vector<RyserSum<ModularRing>> sums;
    for (std::size_t m = 0; m < residues.primes.size(); ++m) {
        poll();
        const ModularRing ring(residues.primes[m]);
        sums.emplace_back(plan, residues.pattern, ring,
                          [&](std::size_t, std::size_t k) { return ring.field().to(residues.values[m][k]); });
    }
    CurrentCall part(1 / static_cast<double>(sums.size())); // a plan's terms are of all of them
    const std::vector<ModularRing::Total> totals = totals_of(sums);
    ResidueVector permanents;
    for (std::size_t m = 0; m < sums.size(); ++m) {
        const Montgomery &field = sums[m].ring().field();
        const std::uint64_t twice = field.add(totals[m].sum, totals[m].sum); // 4 (n mod 2) - 2 is 2 or -2
        permanents.push_back(field.from(residues.pattern.rows % 2 ? twice : field.subtract(0, twice)));
    }
    EngineResult result{std::move(permanents), {}};
    result.counts.subsets = plan.terms;
    return result;
}

// Engine ryser in doubles, complex and double-double numbers. Row sums are double-doubles on a grid on which
// they are exact, in all of these; doubles and `complex` round them to doubles for the products.

using number::Complex, number::DD, number::Real;

constexpr int grid_bits = 105; // of DD's exact additions

using Double = Real<double>;
using Dd = DD<double>;

// As Parts have the doubles of a number: highs alone are every other one.
template <class A> constexpr std::ptrdiff_t stride = std::is_same_v<A, Complex<Double>> ? 2 : 1;
template <class A> typename A::Number number_of(const Parts &x) {
    return gathered<typename A::Number>(x.data(), stride<A>);
}

void halve_number(Dd::Number &x) { x = {0.5 * x.hi, 0.5 * x.lo}; }
void halve_number(Complex<Dd>::Number &x) {
    halve_number(x.re);
    halve_number(x.im);
}

void round_to(double &to, Dd::Number x) { to = x.hi; }
void round_to(Dd::Number &to, Dd::Number x) { to = x; }
void round_to(Complex<Dd>::Number &to, Complex<Dd>::Number x) { to = x; }
void round_to(Complex<Double>::Number &to, Complex<Dd>::Number x) { to = {x.re.hi, x.im.hi}; }

void join(Dd::Sum &to, Dd::Sum x) { to = Dd::sum(to, x); }
void join(Double::Sum &to, Double::Sum x) {
    to = Double::sum(to, x.sum);
    to.error += x.error;
}
template <class Sum> void join(Sum &to, const Sum &x) {
    join(to.re, x.re);
    join(to.im, x.im);
}

// Whether nothing rounds where the parts of a sum are added.
bool is_number(Double::Sum x) { return number::two_sum(x.sum, x.error).lo == 0; }
template <class Sum> bool is_number(const Sum &) { return true; }

// `Sums` and `Products` are arithmetics of jit/device/number.cuh.
template <class Sums, class Products> class WideRing {
  public:
    using RowSum = typename Sums::Number;
    using Product = typename Products::Number;
    struct Total {
        typename Products::Sum sum;
        double absolute = 0; // the same, of the terms' absolute values
    };
    static constexpr std::uint64_t run_length = 4096;

    explicit WideRing(Arithmetic arithmetic) : arithmetic_(arithmetic) {}

    static RowSum zero() { return Sums::number(0); }
    static Product one() { return Products::number(1); }
    static Total total() { return {Products::zero_sum(), 0}; }

    static void add(RowSum &to, const RowSum &x) { to = Sums::add(to, x); }
    static void subtract(RowSum &to, const RowSum &x) { to = Sums::subtract(to, x); }
    static void halve(RowSum &x) { halve_number(x); }
    static bool is_zero(const RowSum &x) { return Sums::is_zero(x); }
    static void round(Product &to, const RowSum &x) { round_to(to, x); }
    static void multiply(Product &to, const Product &x) { to = Products::multiply(to, x); }

    std::vector<Product> weights(std::int32_t m) const {
        std::vector<Product> weights;
        if (m <= most_binomial) {
            for (const double choices : std::span(binomials.of[m], at(m) + 1))
                weights.push_back(Products::number(choices * power_of_two(-m)));
            return weights;
        }
        mpz_class choices = 1;
        for (std::int32_t k = 0; k <= m; ++k) {
            weights.push_back(number_of<Products>(parts_of({choices, 0}, m, arithmetic_)));
            choices = choices * (m - k) / (k + 1);
        }
        return weights;
    }

    static void add(Total &to, const Product &term, bool negative) {
        to.sum = Products::sum(to.sum, negative ? Products::negate(term) : term);
        to.absolute += Products::magnitude(term);
    }
    static void add(Total &to, const Total &x) {
        join(to.sum, x.sum);
        to.absolute += x.absolute;
    }

  private:
    Arithmetic arithmetic_;
};

// Entries that row sums are made of. The members of GridBlock; log2_most: of any product of row sums.
template <class Sums> class WideGrid : public GridBlock {
  public:
    static constexpr double log2_most = HUGE_VAL;

    WideGrid(const RyserPlan &, const ExactBlock &block) : GridBlock(on_grid(block, grid_bits)) {}

    typename Sums::Number operator()(std::size_t, std::size_t k) const {
        constexpr Arithmetic of_sums = Sums::parts > 2 ? Arithmetic::complex_dd : Arithmetic::dd;
        return number_of<Sums>(parts_of({re[k], im[k]}, grid_bits, of_sums));
    }
};

// Of doubles: halves of entries, too, are to be multiples of 2^-grid_bits. The absolute values in a row add
// up to 1 at least and less than 2, so row sums are below 1, but no smaller than need be: powers of them are
// taken.
class RealGrid {
  public:
    std::int64_t exp2 = 0, unit = 0;
    Scaled moved;
    double log2_most = 0;

    RealGrid(const RyserPlan &plan, const Block &block) : block_(block) {
        double entries = 0; // that were moved, by half a unit at most
        for (const EqualLines &kind : plan.row_kinds) {
            ScaledRow &row = rows_.emplace_back(scaled_row(block, kind.line));
            row.exp2 -= 1;
            row.absolute *= 2;
            row.unit += 1;
            exp2 += kind.count * row.exp2;
            unit += std::int64_t{kind.count} * std::max(row.unit, -grid_bits);
            log2_most += kind.count * (std::log2(row.absolute) - 1);
            if (is_moved(row))
                entries += kind.count * static_cast<double>(block.pattern.row(kind.line).size());
        }
        // What is moved counts as often as the other rows' sums of absolute values come to, each at least 1.
        const double of_others = log2_most + block.n(), whole = std::floor(of_others);
        if (entries > 0 && std::isfinite(whole)) // else the permanent is 0
            moved = make_scaled(entries * std::exp2(of_others - whole) * (1 + 0x1p-20),
                                static_cast<std::int64_t>(whole) - grid_bits);
    }

    Dd::Number operator()(std::size_t r, std::size_t k) const {
        const double x = rows_[r].value(block_.values[k]);
        if (!is_moved(rows_[r]) || std::fabs(x) >= 0x1p-52) return {x, 0};
        return {std::nearbyint(x * 0x1p104) * 0x1p-104, 0};
    }

  private:
    static bool is_moved(const ScaledRow &row) { return row.unit < -grid_bits; }

    const Block &block_;
    std::vector<ScaledRow> rows_; // of each kind
};

// Of the sum, in units of the grid's 2^exp2 (and of 2^(1 - n) where counts have weights).
template <class Sum, class Grid, class Total>
double error_of(const Sum &sum, const Total &total, const Grid &grid, std::int32_t n, Arithmetic arithmetic) {
    const double u = unit_of(arithmetic), additions = sum.additions(),
                 terms = static_cast<double>(sum.terms());
    const double absolute = total.absolute * (1 + (additions + 16) * 0x1p-52);
    // When all terms together are so few of the unit that they are multiples of, so is each partial product
    // and sum on the way (those of whole numbers other than 0 do not get smaller): none rounds.
    bool exact = grid.moved.mantissa == 0;
    for (const EqualLines &c : sum.columns())
        exact = exact && (c.count == 1 || c.count <= (is_dd(arithmetic) ? 100 : 50));
    const std::int64_t unit = grid.unit - (sum.has_weights() ? n - 1 : 0);
    const auto units = [unit](int bits) { return std::ldexp(1.0, static_cast<int>(unit) + bits); };
    if (exact && unit > -900) {
        if (absolute < units(is_dd(arithmetic) ? 102 : 50)) return 0;
        // Nor does any where doubles hold each product, and a second one what their sums lose.
        if (grid.log2_most + 0x1p-20 < static_cast<double>(unit + 53) && 2 * terms * absolute < units(104) &&
            is_number(total.sum))
            return 0;
    }
    // Row sums round to doubles, if at all; the last is the result.
    const double roundings = n + sum.multiplications() * product_roundings(arithmetic) + 2;
    const double product = roundings * u / (1 - roundings * u);
    // Sums of doubles keep what they lose (Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26 (2005): gamma^2).
    const double addition = is_dd(arithmetic) ? additions * u : additions * additions * 1.1 * u * u;
    // No row sum is above 1, so what underflows is not magnified, but by as many squares as rows have copies.
    const double underflow = terms * n * (n + 64.0) * 0x1p-1069;
    return ((product + addition) * absolute + underflow) * (1 + 0x1p-10);
}

Ball ball_of(const Block &block, const Parts &parts, double error, std::int64_t exp2) {
    return ball_from(block, parts[0], error + std::fabs(parts[1]), exp2);
}
WideBall ball_of(const ExactBlock &, const Parts &parts, double error, std::int64_t exp2) {
    return ball_within(parts, error, exp2);
}

template <class Grid, class Sums, class Products, class AnyBlock>
EngineResult compute(const RyserPlan &plan, const AnyBlock &block, Arithmetic arithmetic) {
    using Ring = WideRing<Sums, Products>;
    const Grid grid(plan, block);
    std::vector<RyserSum<Ring>> sums;
    sums.emplace_back(plan, block.pattern, Ring(arithmetic), grid);
    const RyserSum<Ring> &sum = sums.front();
    const typename Ring::Total total = totals_of(sums).front();

    const std::int32_t n = block.n();
    const std::int64_t weights = sum.has_weights() ? n - 1 : 0;
    Parts parts{};
    scatter(Products::total(total.sum), parts.data(), stride<Products>);
    for (double &x : parts) x *= n % 2 ? 2 : -2;
    double error = 2 * error_of(sum, total, grid, n, arithmetic);
    if (grid.moved.mantissa != 0)
        error += std::ldexp(grid.moved.mantissa, ldexp_exponent(grid.moved.exp2 - weights)) + 0x1p-1070;
    EngineResult result{ball_of(block, parts, error * (1 + 0x1p-40), grid.exp2 + weights), {}};
    result.counts.subsets = static_cast<double>(sum.terms());
    return result;
}

EngineResult sum_of(const RyserPlan &plan, const EngineInput &input) {
    if (const Residues *residues = input.residues()) return sum_of_residues(plan, *residues);
    if (const Block *block = input.block())
        return plan.counted ? compute<RealGrid, Dd, Dd>(plan, *block, Arithmetic::dd)
                            : compute<RealGrid, Dd, Double>(plan, *block, Arithmetic::real);
    const ExactBlock &block = *input.exact();
    const Arithmetic arithmetic = input.arithmetic();
    if (!has_perfect_matching(block)) return {WideBall{}, {}};
    if (arithmetic == Arithmetic::dd) return compute<WideGrid<Dd>, Dd, Dd>(plan, block, arithmetic);
    if (arithmetic == Arithmetic::complex)
        return compute<WideGrid<Complex<Dd>>, Complex<Dd>, Complex<Double>>(plan, block, arithmetic);
    return compute<WideGrid<Complex<Dd>>, Complex<Dd>, Complex<Dd>>(plan, block, arithmetic);
}

} // namespace

EngineResult run_ryser(const RyserPlan &plan, const EngineInput &input) {
    EngineResult result = sum_of(plan, input);
    const Residues *residues = input.residues();
    result.counts.operations =
        ryser_cost(plan).operations * (residues ? static_cast<double>(residues->primes.size()) : 1);
    return result;
}

EngineResult run_ryser(const EngineRun &run, const EngineInput &input) {
    return run_ryser(*plan_as<RyserPlan>(run.choice), input);
}

} // namespace libperm
