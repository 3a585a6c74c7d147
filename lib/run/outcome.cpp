#include "lib/run/outcome.hpp"

#include "lib/base/error.hpp"
#include "lib/number/infinity.hpp"
#include "lib/number/wide_value.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {

void set_value(Outcome &outcome, const Ball &ball) {
    outcome.value = ball.value;
    outcome.error = ball.error;
    if (std::isnan(outcome.error.mantissa)) outcome.error = make_scaled(infinity); // something overflowed
    outcome.exact = outcome.error.mantissa == 0;
    outcome.rel_error_bound = to_double_up(relative_error(outcome));
}

void set_value(Outcome &outcome, const WideBall &ball) {
    set_value(outcome, Ball{size_of(ball.value), ball.error});
    outcome.wide.emplace(ball.value); // an assigned number keeps the memory of the one before it
}

void round_value(Outcome &outcome, int bits) {
    const bool is_double = bits == double_bits && is_real(*outcome.wide);
    const Tracked nearest = tracked_of(outcome.wide->re);
    const Gaussian value = rounded(*outcome.wide, bits);
    Scaled error = outcome.error;
    if (is_double ? nearest.roundings > 0 : !(value == *outcome.wide))
        error = (Ball{{}, error} + Ball{{}, make_scaled(outcome.value.mantissa, outcome.value.exp2 - bits)})
                    .error;
    if (!is_double) return set_value(outcome, WideBall{value, error});
    outcome.wide.reset();
    set_value(outcome, Ball{make_scaled(nearest.value, nearest.exp2), error});
}

void reduce(Outcome &outcome, std::uint64_t p, const char *what) {
    const mpz_class prime = p;
    const Gaussian value =
        outcome.wide ? *outcome.wide : exact_of({outcome.value.mantissa, 0, 0, 0}, outcome.value.exp2);
    if (!outcome.exact) throw Error(PERM_INTERNAL, "a residue is asked for of what is not exact");
    if (!is_real(value))
        throw Error(PERM_BAD_OPTION, "precision mod:P takes real entries: these are complex");
    mpz_class residue;
    if (mpz_invert(residue.get_mpz_t(), value.re.get_den_mpz_t(), prime.get_mpz_t()) == 0)
        throw Error(PERM_BAD_OPTION, "precision mod:" + prime.get_str() + ": the " + what +
                                         " has a denominator that is a multiple of it");
    residue *= value.re.get_num();
    mpz_fdiv_r(residue.get_mpz_t(), residue.get_mpz_t(), prime.get_mpz_t());
    set_value(outcome, WideBall{{residue, 0}, {}});
}

Outcome outcome_of(const EngineResult &result) {
    Outcome outcome;
    if (const auto *ball = std::get_if<Ball>(&result.value)) set_value(outcome, *ball);
    if (const auto *ball = std::get_if<WideBall>(&result.value)) set_value(outcome, *ball);
    outcome.counts = result.counts;
    return outcome;
}

bool is_better(const Outcome &x, const Outcome &y) {
    if (x.rel_error_bound < y.rel_error_bound) return true;
    if (std::isfinite(x.rel_error_bound) || std::isfinite(y.rel_error_bound)) return false;
    if (!std::isfinite(x.error.mantissa) || x.error.mantissa == 0) return x.error.mantissa == 0;
    if (!std::isfinite(y.error.mantissa)) return true;
    return x.error.exp2 != y.error.exp2 ? x.error.exp2 < y.error.exp2 : x.error.mantissa < y.error.mantissa;
}

bool take_if_better(Outcome &outcome, const std::function<Outcome()> &work, bool goes_on) {
    Outcome other;
    if (!within_limits([&] { other = work(); }, goes_on) || !is_better(other, outcome)) return false;
    outcome = std::move(other);
    return true;
}

} // namespace libperm
