// Engine ryser in MPFR numbers. Rows are scaled and on a grid, so a product of n row sums lies between
// 2^(-(bits + 34) n) and 1: MPFR's exponents, 2^30 either way unless told otherwise, are never left.
#include "lib/number/fixed_point_block.hpp"
#include "lib/number/mpfr_field.hpp"
#include "lib/ryser/sums.hpp"
#include "lib/ryser/walk.hpp"

namespace libperm {
namespace {

constexpr int more_grid_bits = 32; // than the products have: row sums are exact, entries all but
constexpr int more_sum_bits = 64;  // no number of terms is felt in the last bits of a product
constexpr int bound_bits = 64;     // of errors and sums of absolute values, which are rounded up

template <class Field> struct MpfrTotal {
    typename Field::Number sum;
    MpfrNumber absolute; // the same, of the terms' absolute values

    template <class F> void each_part(const F &f) {
        Field::each_part(sum, f);
        f(absolute);
    }
};

template <class Field>
void save_part(cereal::PortableBinaryOutputArchive &ar, const MpfrTotal<Field> &total) {
    MpfrTotal<Field>(total).each_part([&](const MpfrNumber &x) { ar(x.to_string()); });
}
template <class Field> void load_part(cereal::PortableBinaryInputArchive &ar, MpfrTotal<Field> &total) {
    total.each_part([&](MpfrNumber &x) {
        std::string text;
        ar(text);
        if (!x.set_string(text)) throw Error(PERM_BAD_ARGUMENT, "a part that is known is no number");
    });
}

template <class Field> class MpfrRing {
  public:
    using RowSum = typename Field::Number;
    using Product = typename Field::Number;
    using Total = MpfrTotal<Field>;
    static constexpr std::uint64_t run_length = 128;

    explicit MpfrRing(int bits) : bits_(bits) {}

    RowSum zero() const { return Field::number(bits_ + more_grid_bits + 2); }
    Product one() const { return number(bits_, 1, 0); }
    Total total() const { return {Field::number(bits_ + more_sum_bits), MpfrNumber(bound_bits)}; }

    static void add(RowSum &to, const RowSum &x) { Field::add(to, x); }
    static void subtract(RowSum &to, const RowSum &x) { Field::subtract(to, x); }
    static void halve(RowSum &x) { Field::shift(x, -1); }
    static bool is_zero(const RowSum &x) { return Field::is_zero(x); }
    static void round(Product &to, const RowSum &x) { Field::set(to, x); }
    static void multiply(Product &to, const Product &x) { Field::multiply(to, x); }

    std::vector<Product> weights(std::int32_t m) const {
        std::vector<Product> weights;
        mpz_class choices = 1;
        for (std::int32_t k = 0; k <= m; ++k) {
            weights.push_back(number(bits_, choices, -m));
            choices = choices * (m - k) / (k + 1);
        }
        return weights;
    }

    static void add(Total &to, const Product &term, bool negative) {
        negative ? Field::subtract(to.sum, term) : Field::add(to.sum, term);
        Field::add_magnitude(to.absolute, term);
    }
    static void add(Total &to, const Total &x) {
        Field::add(to.sum, x.sum);
        mpfr_add(to.absolute, to.absolute, x.absolute, MPFR_RNDU);
    }

  private:
    static Product number(int bits, const mpz_class &x, mpfr_exp_t exp2) {
        Product to = Field::number(bits);
        Field::set(to, x, 0, exp2);
        return to;
    }

    int bits_;
};

mpq_class exactly(const MpfrNumber &x) {
    mpq_class q;
    mpfr_get_q(q.get_mpq_t(), x);
    return q;
}

Scaled rounded_up(const MpfrNumber &x) {
    long exp2 = 0;
    const double mantissa = mpfr_get_d_2exp(&exp2, x, MPFR_RNDU);
    return make_scaled(mantissa, exp2);
}

// Bounds twice the error of the sum over all subsets, in its units.
template <class Sum>
MpfrNumber error_of(const Sum &sum, const MpfrNumber &absolute, const GridBlock &grid, std::int32_t n,
                    int bits) {
    MpfrNumber error(bound_bits), share(bound_bits);
    const std::int64_t weights = sum.shape().weighted ? n - 1 : 0;
    // As in sums of doubles (lib/ryser/wide.cpp): whole numbers do not round.
    mpfr_set_ui_2exp(error, 1, grid.unit - weights + bits - 2, MPFR_RNDD);
    bool exact = grid.moved.mantissa == 0 && mpfr_less_p(absolute, error);
    for (const EqualLines &c : sum.shape().columns) exact = exact && (c.count == 1 || c.count < bits);
    mpfr_set_zero(error, 1);
    if (exact) return error;
    // Each row sum, multiplication and addition, and the result.
    const double roundings = n + sum.multiplications() + 2 + sum.additions() * 0x1p-62;
    mpfr_set_d(share, roundings, MPFR_RNDU);
    mpfr_mul_2si(share, share, -bits, MPFR_RNDU);
    // gamma(k) = k u / (1 - k u) for u = 2^-bits; k u is taken to be below 1/2.
    mpfr_mul(error, share, share, MPFR_RNDU);
    mpfr_mul_2si(error, error, 1, MPFR_RNDU);
    mpfr_add(error, error, share, MPFR_RNDU);
    if (mpfr_cmp_d(share, 0.25) > 0) mpfr_set_inf(error, 1);
    mpfr_mul(error, error, absolute, MPFR_RNDU);
    mpfr_mul_2si(error, error, 2, MPFR_RNDU);
    mpfr_set_d(share, grid.moved.mantissa, MPFR_RNDU);
    mpfr_mul_2si(share, share, grid.moved.exp2 - weights, MPFR_RNDU);
    mpfr_add(error, error, share, MPFR_RNDU);
    return error;
}

template <class Field>
EngineResult compute(const RyserPlan &plan, const ExactBlock &block, int bits, RunControl &control) {
    using Ring = MpfrRing<Field>;
    const GridBlock grid = on_grid(block, bits + more_grid_bits);
    const Ring ring(bits);
    std::vector<typename Ring::RowSum> values(grid.re.size(), ring.zero());
    for (std::size_t k = 0; k < values.size(); ++k) Field::set(values[k], grid.re[k], grid.im[k], -grid.bits);
    std::vector<RyserSum<Ring>> sums;
    sums.emplace_back(plan, block.pattern, ring, values);
    const RyserSum<Ring> &sum = sums.front();
    typename Ring::Total total = totals_of(sums, control).front();

    const std::int32_t n = block.n();
    typename Field::Number value = Field::number(bits);
    n % 2 ? Field::add(value, total.sum) : Field::subtract(value, total.sum);
    const std::int64_t exp2 = grid.exp2 + (sum.shape().weighted ? n - 1 : 0);
    const MpfrNumber error = error_of(sum, total.absolute, grid, n, bits);
    WideBall ball{{shifted(exactly(Field::re(value)), exp2 + 1), 0}, rounded_up(error)};
    if (const MpfrNumber *im = Field::im(value)) ball.value.im = shifted(exactly(*im), exp2 + 1);
    ball.error.exp2 += exp2;
    EngineResult result{ball, {}};
    result.counts.subsets = static_cast<double>(sum.shape().terms);
    return result;
}

} // namespace

EngineResult ryser_in_mpfr(const RyserPlan &plan, const ExactBlock &block, int bits, RunControl &control) {
    if (!has_perfect_matching(block)) return {WideBall{}, {}};
    const bool real =
        std::all_of(block.values.begin(), block.values.end(), [](const Gaussian &x) { return is_real(x); });
    return real ? compute<MpfrReal>(plan, block, bits, control)
                : compute<MpfrComplex>(plan, block, bits, control);
}

} // namespace libperm
