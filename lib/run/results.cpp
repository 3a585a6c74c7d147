#include "lib/run/results.hpp"

#include "lib/base/error.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/wide_value.hpp"
#include "preprocess/permanent_bound.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {

Counts &Counts::operator+=(const Counts &other) {
    subsets += other.subsets;
    states += other.states;
    peak_states = std::max(peak_states, other.peak_states);
    operations += other.operations;
    peak_bytes = std::max(peak_bytes, other.peak_bytes);
    seconds_compile += other.seconds_compile;
    kernels_compiled += other.kernels_compiled;
    slices += other.slices;
    return *this;
}

namespace {

bool all_are_magnitudes(const Block &block) {
    return std::all_of(block.values.begin(), block.values.end(),
                       [](const Tracked &x) { return x.value == x.magnitude; });
}

} // namespace

Ball ball_from(const Block &block, double value, double error, std::int64_t exp2) {
    const double roundings = most_roundings(block);
    const double gamma = gamma_bound(roundings);
    const double share = gamma < 0.5 ? gamma / (1 - gamma) : std::numeric_limits<double>::infinity();
    if (roundings > 0 && all_are_magnitudes(block)) { // perm(M) is what has been computed
        error = (error + share * (std::fabs(value) + error)) * (1 + 0x1p-40);
    } else if (roundings > 0) {
        // |perm(A) - perm(values)| <= gamma perm(M), and (1 - gamma) M is at most the magnitudes, for a
        // product with gamma of all its roundings (preprocess/numbers.hpp).
        const PermanentBound most = permanent_bound(block);
        // The values alone may be far smaller: all of it in a unit that holds both.
        const std::int64_t shift = std::max<std::int64_t>(0, most.exp2 - exp2 - 500);
        const int down = ldexp_exponent(-shift);
        value = std::ldexp(value, down);
        error =
            std::ldexp(error, down) + 0x1p-1070 + // for what underflows here
            share * std::max(0x1p-1070, std::ldexp(most.mantissa, ldexp_exponent(most.exp2 - exp2 - shift)));
        error *= 1 + 0x1p-40;
        exp2 += shift;
    }
    return ball_within(value, error, exp2);
}

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

namespace {

// The number of all decimals: num / 2^k has those of num 5^k.
double digits_of_bits(const mpq_class &x) {
    const auto twos = static_cast<double>(mpz_sizeinbase(x.get_den_mpz_t(), 2) - 1);
    const auto bits = static_cast<double>(mpz_sizeinbase(x.get_num_mpz_t(), 2));
    return std::ceil(bits * std::log10(2.0) + twos * std::log10(5.0)) + 1;
}

std::size_t digits_of(const Outcome &outcome, const Gaussian &x) {
    if (!outcome.exact) return written_digits(relative_error(outcome));
    constexpr double least = 17, most = 3e6;
    const double exact = std::max(digits_of_bits(x.re), digits_of_bits(x.im));
    return static_cast<std::size_t>(exact <= most ? std::max(exact, least) : least);
}

std::string text_of(const Outcome &outcome, const Gaussian &x, bool fractions) {
    const std::size_t digits = digits_of(outcome, x);
    const bool whole = outcome.exact && (fractions || is_integer(x));
    const auto text = [&](const mpq_class &part) { return whole ? to_text(part) : to_text(part, digits); };
    if (is_real(x)) return text(x.re);
    const std::string im = text(x.im);
    return text(x.re) + (im.front() == '-' ? "" : "+") + im + "i";
}

} // namespace

Answer answer_of(const Outcome &outcome, bool fractions) {
    Answer answer;
    answer.error = written_error(outcome.value, outcome.error);
    if (!outcome.wide) {
        const bool all = outcome.exact;
        answer.text = to_text(outcome.value, all ? every_digit : written_digits(relative_error(outcome)));
        answer.re = to_double(outcome.value);
        answer.mantissa_re = outcome.value.mantissa;
        answer.exp2 = outcome.value.exp2;
        return answer;
    }
    const Gaussian &x = *outcome.wide;
    answer.text = text_of(outcome, x, fractions);
    const Parts value = parts_of(x, 0, Arithmetic::complex);
    answer.re = value[0];
    answer.im = value[2];
    if (is_zero(x)) return answer;
    const std::int64_t exp2 = std::max(exponent_of(x.re), exponent_of(x.im));
    const Parts mantissas = parts_of(x, exp2, Arithmetic::complex);
    int exponent = 0;
    std::frexp(std::max(std::fabs(mantissas[0]), std::fabs(mantissas[2])), &exponent);
    answer.mantissa_re = std::ldexp(mantissas[0], -exponent);
    answer.mantissa_im = std::ldexp(mantissas[2], -exponent);
    answer.exp2 = exp2 + exponent;
    return answer;
}

void put(const Answer &answer, perm_result &result) {
    result.re = answer.re;
    result.im = answer.im;
    result.mantissa_re = answer.mantissa_re;
    result.mantissa_im = answer.mantissa_im;
    result.exp2 = answer.exp2;
    result.abs_error_bound = to_double_up(answer.error);
}

} // namespace libperm
