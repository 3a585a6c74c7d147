#include "lib/periodic/float_terms.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/number/wide_entries.hpp"
#include "lib/periodic/growth.hpp"
#include "lib/periodic/operator_power.hpp"
#include "lib/periodic/terms.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace libperm {
namespace {

template <class N> struct RangedOperations {
    using Number = Ranged<N>;
    using Factor = Ranged<N>;

    static Number zero() { return {N::number(0), 0}; }
    static Number one() { return {N::number(1), 0}; }
    static Number add(const Number &x, const Number &y) { return x + y; }
    static Number multiply(const Factor &factor, const Number &x) { return factor * x; }
};

template <class N> Ranged<N> factor_of(const Gaussian &value, Arithmetic arithmetic) {
    const Tracked size = magnitude_of(value);
    const PackedParts parts = packed(parts_of(value, size.exp2, arithmetic), arithmetic);
    typename N::Arithmetic::Number number;
    std::memcpy(&number, parts.data(), sizeof number);
    return Ranged<N>::normalised(N::coefficient(number, size.magnitude), size.exp2);
}

// On the way of a term of a(m), at most.
class Roundings {
  public:
    Roundings(const PeriodicPlan &plan, double of_product) {
        constexpr double of_entry = 1;
        if (plan.joined())
            for (const PeriodBlock &block : plan.loops)
                period_ = std::max(period_, roundings_along(block.levels, of_product, of_entry));
        else
            period_ = roundings_along(plan.open.period.levels, of_product, of_entry);
        // The ends' are no more than these, of few cells as well: their rows are as long.
        ends_ = plan.joined() ? 2 * static_cast<double>(plan.states())
                              : roundings_along(plan.open.start, of_product, of_entry) +
                                    roundings_along(plan.open.finish, of_product, of_entry);
        const auto terms = static_cast<double>(plan.values.size());
        of_few_ = (of_entry + of_product + 1 + 2 * terms);
        rows_ = static_cast<double>(plan.matrix.rows + plan.matrix.head.rows + plan.matrix.tail.rows + 2);
        steps_beyond_ = static_cast<double>(plan.open.least) + 2;
        few_ = !plan.joined() ? plan.open.least : 0;
    }
    // `squared`: the operator was multiplied with itself; each product of matrices adds what `of_matrix` says.
    double of(std::int64_t m, double of_matrix = 0) const {
        if (m < few_) return of_few_ * rows_ * (static_cast<double>(m) + 2 * steps_beyond_);
        return ends_ + static_cast<double>(m) * (period_ + 2 * of_matrix);
    }

  private:
    double period_ = 0, ends_ = 0, of_few_ = 0, rows_ = 0, steps_beyond_ = 0;
    std::int64_t few_ = 0;
};

// As the frontier's ledger does.
template <class N> Outcome outcome_of(const Ranged<N> &number, Arithmetic arithmetic, double roundings) {
    PackedParts parts{};
    std::memcpy(parts.data(), &number.number.value, sizeof number.number.value);
    const double gamma = gamma_bound(roundings, unit_of(arithmetic)), gamma_of_sum = gamma_bound(roundings);
    double error = std::numeric_limits<double>::infinity();
    if (gamma_of_sum < 0.5) error = gamma * number.number.magnitude() / (1 - gamma_of_sum);
    Outcome outcome;
    if (arithmetic == Arithmetic::real)
        set_value(outcome, ball_within(parts.front(), error, number.exp2));
    else
        set_value(outcome, ball_within(unpacked(parts, arithmetic), error, number.exp2));
    return outcome;
}

bool squares(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, double &seconds, double each) {
    const auto m = static_cast<double>(first + count - 1 - plan.open.least);
    double cubes = 0;
    const auto cube = [](double n) { return n * n * n; };
    if (plan.joined())
        for (const PeriodBlock &block : plan.loops) cubes += cube(static_cast<double>(block.states));
    else
        cubes = cube(static_cast<double>(plan.states()));
    const double walking = std::max(m, 0.0) * plan.moves_of_starts() * each,
                 squaring = count == 1 && m > 8 ? 2 * std::log2(m) * cubes * each
                                                : std::numeric_limits<double>::infinity();
    seconds = std::min(walking, squaring);
    return squaring < walking;
}

constexpr double seconds_each = 12e-9, seconds_each_dd = 30e-9; // of a move

template <class N>
std::vector<Outcome> terms_in(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                              Arithmetic arithmetic, RunControl &control) {
    using Numbers = RangedOperations<N>;
    const Numbers numbers;
    std::vector<Ranged<N>> factors;
    factors.reserve(plan.values.size());
    for (const Gaussian &value : plan.values) factors.push_back(factor_of<N>(value, arithmetic));
    const Roundings roundings(plan, product_roundings(arithmetic));
    std::vector<Outcome> outcomes;
    double seconds = 0;
    if (squares(plan, first, count, seconds, seconds_each)) {
        const auto number = term_by_squares(plan, numbers, factors, first, control);
        const double of_matrix = product_roundings(arithmetic) + 1 + 2 * static_cast<double>(plan.states());
        return {outcome_of(number, arithmetic, roundings.of(first, of_matrix))};
    }
    for (const auto &number : terms_of(plan, numbers, factors, first, count, control))
        outcomes.push_back(
            outcome_of(number, arithmetic, roundings.of(first + static_cast<std::int64_t>(outcomes.size()))));
    return outcomes;
}

} // namespace

[[noreturn]] static void throw_too_long(std::int64_t length) {
    throw Error(PERM_UNSUPPORTED, formatted("a length of {} cells is too much for exact numbers, whose size is not known "
                                            "from doubles there: use precision dd or mod:P",
                                            length));
}

double float_seconds(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, bool dd) {
    double seconds = 0;
    squares(plan, first, count, seconds, dd ? seconds_each_dd : seconds_each);
    return seconds;
}

std::vector<Outcome> float_terms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, bool dd,
                                 RunControl &control) {
    using number::Complex, number::DD, number::Real;
    if (!plan.real && dd)
        return terms_in<Signed<Complex<DD<double>>>>(plan, first, count, Arithmetic::complex_dd, control);
    if (!plan.real) return terms_in<Signed<Complex<Real<double>>>>(plan, first, count, Arithmetic::complex, control);
    if (dd)
        return plan.nonnegative
                   ? terms_in<NonNegative<DD<double>>>(plan, first, count, Arithmetic::dd, control)
                   : terms_in<Signed<DD<double>>>(plan, first, count, Arithmetic::dd, control);
    return plan.nonnegative
               ? terms_in<NonNegative<Real<double>>>(plan, first, count, Arithmetic::real, control)
               : terms_in<Signed<Real<double>>>(plan, first, count, Arithmetic::real, control);
}

namespace {

// The trace of T^m is at most states * rho^m, for T >= 0.
std::vector<std::int64_t> trace_bits(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, const Growth &growth) {
    std::vector<std::int64_t> bits;
    const double states = std::log2(static_cast<double>(plan.states()) + 1), each = std::log2(std::max(growth.upper, 1.0));
    for (std::int64_t m = first; m < first + count; ++m) {
        const double most = (states + each * static_cast<double>(m)) * (1 + 1e-14) + 2;
        if (!(most < 0x1p60)) throw_too_long(m);
        bits.push_back(static_cast<std::int64_t>(most));
    }
    return bits;
}

} // namespace

std::vector<std::int64_t> term_bits(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                                    RunControl &control) {
    PeriodicPlan sizes = plan;
    sizes.nonnegative = sizes.real = true;
    for (Gaussian &value : sizes.values) {
        const Tracked size = magnitude_of(value);
        value = exact_of({size.magnitude, 0, 0, 0}, size.exp2);
    }
    if (plan.joined() && is_bracketed(sizes)) return trace_bits(plan, first, count, growth_of(sizes, control));
    std::vector<std::int64_t> bits;
    for (const Outcome &outcome : float_terms(sizes, first, count, false, control)) {
        if (!std::isfinite(outcome.error.mantissa)) throw_too_long(first + count - 1);
        const Scaled most = (Ball{outcome.value, {}} + Ball{outcome.error, {}}).value;
        bits.push_back(most.mantissa == 0 ? 1 : most.exp2 + 2);
    }
    return bits;
}

} // namespace libperm
