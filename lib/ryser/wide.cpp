// Engine ryser in complex and in double-double numbers. Row sums are double-doubles on a grid on which they
// are exact, in all of these; `complex` rounds them to doubles for the products.
#include "jit/number/number.hpp"
#include "lib/number/bits.hpp"
#include "lib/number/fixed_point_block.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/ryser/sums.hpp"
#include "lib/ryser/walk.hpp"

#include <cmath>

namespace libperm {
namespace {

using number::Complex, number::DD, number::Real;

constexpr int grid_bits = 105; // of DD's exact additions

using Double = Real<double>;
using Dd = DD<double>;
double put(const Parts &x, std::size_t from, Double) { return x[from]; }
Dd::Number put(const Parts &x, std::size_t from, Dd) { return {x[from], x[from + 1]}; }
template <class Base> typename Complex<Base>::Number put(const Parts &x, std::size_t from, Complex<Base>) {
    return {put(x, from, Base{}), put(x, from + 2, Base{})};
}

void get(double x, double *to) { to[0] = x; }
void get(Dd::Number x, double *to) {
    to[0] = x.hi;
    to[1] = x.lo;
}
void get(Complex<Double>::Number x, double *to) {
    get(x.re, to);
    get(x.im, to + 2);
}
void get(Complex<Dd>::Number x, double *to) {
    get(x.re, to);
    get(x.im, to + 2);
}

bool all_zero(Dd::Number x) { return x.hi == 0; }
bool all_zero(Complex<Dd>::Number x) { return x.re.hi == 0 && x.im.hi == 0; }

void halve_number(Dd::Number &x) { x = {0.5 * x.hi, 0.5 * x.lo}; }
void halve_number(Complex<Dd>::Number &x) {
    halve_number(x.re);
    halve_number(x.im);
}

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
    static bool is_zero(const RowSum &x) { return all_zero(x); }
    static void round(Product &to, const RowSum &x) { round_to(to, x); }
    static void multiply(Product &to, const Product &x) { to = Products::multiply(to, x); }

    std::vector<Product> weights(std::int32_t m) const {
        std::vector<Product> weights;
        mpz_class choices = 1;
        for (std::int32_t k = 0; k <= m; ++k) {
            weights.push_back(put(parts_of({choices, 0}, m, arithmetic_), 0, Products{}));
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

// Of the sum over all subsets, in units of the grid's 2^exp2 (and of 2^(1 - n) where counts have weights).
template <class Sum>
double error_of(const Sum &sum, double absolute, const GridBlock &grid, std::int32_t n,
                Arithmetic arithmetic) {
    const double u = unit_of(arithmetic), additions = sum.additions();
    absolute *= 1 + (additions + 16) * 0x1p-52;
    // When all terms together are so few of the unit that they are multiples of, so is each partial product
    // and sum on the way (those of whole numbers other than 0 do not get smaller): none rounds.
    bool exact = grid.moved.mantissa == 0;
    for (const EqualLines &c : sum.shape().columns)
        exact = exact && (c.count == 1 || c.count <= (is_dd(arithmetic) ? 100 : 50));
    const std::int64_t unit = grid.unit - (sum.shape().weighted ? n - 1 : 0);
    if (exact && unit > -900 && absolute < std::ldexp(1.0, static_cast<int>(unit) + (u < 0x1p-60 ? 102 : 50)))
        return 0;
    // Row sums round to doubles, if at all; the last is the result.
    const double roundings = n + sum.multiplications() * product_roundings(arithmetic) + 2;
    const double product = roundings * u / (1 - roundings * u);
    // Sums of doubles keep what they lose (Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26 (2005): gamma^2).
    const double addition = is_dd(arithmetic) ? additions * u : additions * additions * 1.1 * u * u;
    // No row sum is above 1, so what underflows is not magnified, but by as many squares as rows have copies.
    const double underflow = static_cast<double>(sum.shape().terms) * n * (n + 64.0) * 0x1p-1069;
    return 2 * ((product + addition) * absolute + underflow) * (1 + 0x1p-10);
}

template <class Sums, class Products>
EngineResult compute(const RyserPlan &plan, const ExactBlock &block, Arithmetic arithmetic,
                     RunControl &control) {
    using Ring = WideRing<Sums, Products>;
    const Arithmetic of_sums = is_complex(arithmetic) ? Arithmetic::complex_dd : Arithmetic::dd;
    const GridBlock grid = on_grid(block, grid_bits);
    std::vector<typename Ring::RowSum> values;
    for (std::size_t k = 0; k < grid.re.size(); ++k)
        values.push_back(put(parts_of({grid.re[k], grid.im[k]}, grid_bits, of_sums), 0, Sums{}));
    std::vector<RyserSum<Ring>> sums;
    sums.emplace_back(plan, block.pattern, Ring(arithmetic), values);
    const RyserSum<Ring> &sum = sums.front();
    const typename Ring::Total total = totals_of(sums, control).front();

    const std::int32_t n = block.n();
    const std::int64_t weights = sum.shape().weighted ? n - 1 : 0;
    Parts parts{};
    get(Products::total(total.sum), parts.data());
    for (double &x : parts) x *= n % 2 ? 2 : -2;
    double error = 2 * error_of(sum, total.absolute, grid, n, arithmetic);
    if (grid.moved.mantissa != 0)
        error += std::ldexp(grid.moved.mantissa, ldexp_exponent(grid.moved.exp2 - weights)) + 0x1p-1070;
    EngineResult result{ball_within(parts, error * (1 + 0x1p-40), grid.exp2 + weights), {}};
    result.counts.subsets = static_cast<double>(sum.shape().terms);
    return result;
}

} // namespace

EngineResult ryser_wide(const RyserPlan &plan, const ExactBlock &block, Arithmetic arithmetic,
                        RunControl &control) {
    if (!has_perfect_matching(block)) return {WideBall{}, {}};
    if (arithmetic == Arithmetic::dd) return compute<Dd, Dd>(plan, block, arithmetic, control);
    if (arithmetic == Arithmetic::complex)
        return compute<Complex<Dd>, Complex<Double>>(plan, block, arithmetic, control);
    return compute<Complex<Dd>, Complex<Dd>>(plan, block, arithmetic, control);
}

} // namespace libperm
