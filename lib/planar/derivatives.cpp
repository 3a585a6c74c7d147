#include "lib/planar/derivatives.hpp"

#include "lib/planar/inverse.hpp"
#include "lib/planar/modular_field.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

// An inverse has been seen to lose twice the bits of its determinant.
int bits_needed(int bits, double relative_error) {
    constexpr int of_double = 54, apart = 64;
    const double lost = std::max(0.0, bits + std::log2(relative_error));
    const double needed = of_double + 2 * std::min(lost, double{most_ball_bits});
    return std::min(apart * static_cast<int>(std::ceil(needed / apart)), most_ball_bits);
}

} // namespace

DerivativesInBits planar_derivatives(const PlanarPlan &plan, int bits, const BallEntries &entries) {
    const double each = bytes_of_ball(bits);
    Charge of_fronts(&call().memory());
    const auto hold = [&](double numbers) { grow_to(of_fronts, each * numbers); };
    const auto done = [](double products) { call().advance(products); };
    BallField field(bits);
    const auto signed_entry = [&](std::size_t k) {
        BallField::Number x = entries(k);
        if (plan.sum.is_negative[k]) mpfr_neg(x.middle, x.middle, MPFR_RNDN);
        return x;
    };
    Inverse inverse(plan.fronts, field);
    if (!inverse.eliminate(signed_entry, done, hold)) return {{}, std::min(2 * bits, most_ball_bits)};
    if (const int needed = bits_needed(bits, field.relative_error()); needed > bits) return {{}, needed};
    if (plan.sum.terms.front().is_odd) field.negate_product();
    const std::size_t count = plan.sum.is_negative.size();
    PlanarDerivatives found{
        Charge(&call().memory(), static_cast<std::int64_t>(each * static_cast<double>(count))),
        field.product(), std::vector<BallField::Number>(count, field.zero())};
    inverse.go_back(done, hold, [&](std::size_t k, const BallField::Number &x) {
        BallField::Number &to = found.over_permanent[k];
        to = x;
        if (plan.sum.is_negative[k]) mpfr_neg(to.middle, to.middle, MPFR_RNDN);
    });
    return {std::move(found), std::min(2 * bits, most_ball_bits)};
}

bool is_singular(const PlanarPlan &plan, const std::function<mpq_class(std::size_t entry)> &entries) {
    constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
    ModularField field(prime);
    const auto entry = [&](std::size_t k) {
        const mpq_class x = plan.sum.is_negative[k] ? mpq_class(-entries(k)) : entries(k);
        std::uint64_t number = field.number(mpz_fdiv_ui(x.get_num_mpz_t(), prime));
        field.multiply(number, field.inverse(field.number(mpz_fdiv_ui(x.get_den_mpz_t(), prime))));
        return number;
    };
    Charge of_fronts(&call().memory());
    return !Determinant(plan.fronts, field)
                .find(
                    entry, [](double) { poll(); }, [&](double numbers) { grow_to(of_fronts, 8 * numbers); });
}

double products_of_derivatives(const PlanarPlan &plan) { return 3 * plan.fronts.products(); }

double seconds_of_derivatives(const PlanarPlan &plan) {
    constexpr double of_product = 2.5e-7, of_entry = 2e-6;
    return of_product * products_of_derivatives(plan) +
           of_entry * static_cast<double>(plan.sum.is_negative.size());
}

void round_to_multiple(BallField::Number &x, std::int64_t unit) {
    if (!(x.radius < Radius(0.5, unit))) return;
    const auto exp2 = static_cast<long>(unit);
    mpfr_mul_2si(x.middle, x.middle, -exp2, MPFR_RNDN);
    mpfr_rint(x.middle, x.middle, MPFR_RNDN);
    mpfr_mul_2si(x.middle, x.middle, exp2, MPFR_RNDN);
    x.radius = {};
}

ScaledBall in_double(const BallField::Number &x) {
    long exp2 = 0;
    const double value = mpfr_get_d_2exp(&exp2, x.middle, MPFR_RNDN);
    MpfrNumber rest(x.middle.bits()); // that is lost, exactly
    mpfr_set_d(rest, value, MPFR_RNDN);
    mpfr_mul_2si(rest, rest, exp2, MPFR_RNDN);
    mpfr_sub(rest, x.middle, rest, MPFR_RNDN);
    const Radius error = x.radius + BallField::at_most(rest);
    return {make_scaled(value, exp2), make_scaled(error.mantissa(), error.exp2())};
}

} // namespace libperm
