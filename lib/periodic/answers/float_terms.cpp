#include "lib/periodic/answers/periodic_plan.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/periodic/answers/terms.hpp"
#include "lib/periodic/period/period_levels.hpp"
#include "lib/periodic/power/sector_powers.hpp"
#include "preprocess/binomials.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

namespace libperm {
namespace {

template <class N> Ranged<N> factor_of(const Gaussian &value, Arithmetic arithmetic) {
    const Tracked size = magnitude_of(value);
    const PackedParts parts = packed(parts_of(value, size.exp2, arithmetic), arithmetic);
    typename N::Arithmetic::Number number;
    std::memcpy(&number, parts.data(), sizeof number);
    return Ranged<N>::normalised(N::coefficient(number, size.magnitude), size.exp2);
}

// Counts the roundings on the way of a term of a(m), at most.
class Roundings {
  public:
    Roundings(const PeriodicPlan &plan, double of_product) {
        constexpr double of_entry = 1;
        for (const PeriodBlock &block : plan.blocks())
            period_ = std::max(period_, roundings_along(block.levels, of_product, of_entry));
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
    // `squared`: the operator was multiplied with itself; each product of matrices adds what `of_matrix`
    // says.
    double of(std::int64_t m, double of_matrix = 0) const {
        if (m < few_) return of_few_ * rows_ * (static_cast<double>(m) + 2 * steps_beyond_);
        return ends_ + static_cast<double>(m) * (period_ + of_matrix);
    }

  private:
    double period_ = 0, ends_ = 0, of_few_ = 0, rows_ = 0, steps_beyond_ = 0;
    std::int64_t few_ = 0;
};

// `unit_of_magnitude`: what the sum of absolute values was computed with.
template <class N>
Outcome outcome_of(const Ranged<N> &number, Arithmetic arithmetic, double roundings,
                   double unit_of_magnitude) {
    PackedParts parts{};
    std::memcpy(parts.data(), &number.number.value, sizeof number.number.value);
    const double error =
        rounding_error(roundings, unit_of(arithmetic), number.number.magnitude(), unit_of_magnitude);
    Outcome outcome;
    const Parts value = unpacked(parts, arithmetic);
    constexpr std::int64_t most_wide = std::int64_t{1} << 26; // bits that a rational number may begin behind
    if (arithmetic == Arithmetic::real || (!is_complex(arithmetic) && std::abs(number.exp2) > most_wide))
        set_value(outcome, ball_within(value[0], error + 2 * std::fabs(value[1]), number.exp2));
    else if (std::abs(number.exp2) <= most_wide)
        set_value(outcome, ball_within(value, error, number.exp2));
    else
        throw Error(PERM_UNSUPPORTED, formatted("the permanent is about 2^{}: complex numbers reach to 2^{}",
                                                number.exp2, most_wide));
    return outcome;
}

// Of so many terms, in seconds: walked to, or by squares of the operator, of open ends the first of them
// alone.
struct Cost {
    double walking, squaring = std::numeric_limits<double>::infinity();

    bool squares() const { return squaring < walking; }
};

Cost cost_of(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, bool dd) {
    const double each = dd ? 30e-9 : 12e-9; // of a move
    const auto m = static_cast<double>(first + count - 1 - plan.open.least),
               others = static_cast<double>(count - 1), squared = m - others;
    Cost cost{std::max(m, 0.0) * plan.moves_of_starts(first, count) * each};
    if (squared <= 8 || !may_be_squared(plan)) return cost;
    const double of_first = squares_seconds(plan, first - plan.open.least, !plan.real, dd);
    cost.squaring = plan.joined() ? of_first * static_cast<double>(count)
                                  : of_first + others * plan.moves_of_starts(first, count) * each;
    return cost;
}

// The sizes that stand for the entries: none is below its entry's absolute value.
std::vector<Gaussian> magnitudes_of(const PeriodicPlan &plan) {
    std::vector<Gaussian> sizes;
    sizes.reserve(plan.values.size());
    for (const Gaussian &value : plan.values) {
        const Tracked size = magnitude_of(value);
        sizes.push_back(exact_of({size.magnitude, 0, 0, 0}, size.exp2));
    }
    return sizes;
}

// first >= the plan's least.
template <class A>
std::vector<Ranged<Signed<A>>> terms_by_squares(const PeriodicPlan &plan, const SquaredEntries &entries,
                                                const std::vector<Ranged<Signed<A>>> &factors,
                                                std::int64_t first, std::int64_t count) {
    using Numbers = BoundedOperations<Ranged<Signed<A>>>;
    const Numbers numbers;
    std::vector<Ranged<Signed<A>>> terms;
    if (plan.joined()) {
        for (std::int64_t m = first; m < first + count; ++m)
            terms.push_back(FloatSquares<A>::term(plan, entries, m));
        return terms;
    }
    const MoveSums<Numbers> sums(numbers, factors);
    const auto advance_to_first = [&](PeriodWalk<MoveSums<Numbers>> &walk) {
        walk.set(FloatSquares<A>::advanced(plan, entries, walk.numbers(), first - plan.open.least));
        return first;
    };
    walk_open(plan, sums, levels_of(plan.open), first, count, advance_to_first,
              [&](const auto &x) { terms.push_back(x); });
    return terms;
}

template <class N>
std::vector<Outcome> terms_in(const PeriodicPlan &plan, const std::vector<Gaussian> &values,
                              std::int64_t first, std::int64_t count, Arithmetic arithmetic) {
    using Numbers = BoundedOperations<Ranged<N>>;
    const Numbers numbers;
    const auto factors_as = [&]<class M>() {
        std::vector<Ranged<M>> factors;
        factors.reserve(values.size());
        for (const Gaussian &value : values) factors.push_back(factor_of<M>(value, arithmetic));
        return factors;
    };
    const Roundings roundings(plan, product_roundings(arithmetic));
    // Where N holds no sum of absolute values, that is the number itself.
    constexpr bool bounds_itself = sizeof(N) == sizeof(typename N::Arithmetic::Number);
    const double unit_of_magnitude = unit_of(bounds_itself ? arithmetic : Arithmetic::real);
    std::vector<Outcome> outcomes;
    const auto tell = [&](const auto &number, double of_ends, double of_matrix) {
        const std::int64_t m = first + std::ssize(outcomes);
        outcomes.push_back(
            outcome_of(number, arithmetic, of_ends + roundings.of(m, of_matrix), unit_of_magnitude));
    };
    if (cost_of(plan, first, count, is_dd(arithmetic)).squares()) {
        using A = typename N::Arithmetic;
        std::size_t inner = 0, folded = 0;
        for (const PeriodBlock &block : plan.blocks()) {
            inner = std::max(inner, block.states);
            if (plan.joined()) folded = std::max(folded, sectors_in(block)); // states of an orbit, added up
        }
        const double states = static_cast<double>(plan.states()),
                     of_matrix = static_cast<double>(folded) +
                                 product_roundings(inner, is_complex(arithmetic), is_dd(arithmetic));
        // Numbers with exponents are multiplied with a matrix once for each bit of the length.
        const double of_vectors =
            plan.joined()
                ? 0
                : static_cast<double>(std::bit_width(static_cast<std::uint64_t>(first))) * (2 * states + 8);
        const auto factors = factors_as.template operator()<Signed<A>>();
        const std::vector<Gaussian> sizes = bounds_itself ? std::vector<Gaussian>() : magnitudes_of(plan);
        const SquaredEntries entries{values, bounds_itself ? values : sizes};
        for (const auto &number : terms_by_squares<A>(plan, entries, factors, first, count))
            tell(number, 4 * states + 8 + of_vectors, of_matrix);
        return outcomes;
    }
    const std::vector<Ranged<N>> factors = factors_as.template operator()<N>();
    for (const auto &number : terms_of(plan, numbers, factors, first, count)) tell(number, 0, 0);
    return outcomes;
}

Growth growth_of_sizes(const PeriodicPlan &plan, const std::vector<Gaussian> &sizes) {
    return plan.growth_of_sizes->get([&] { return growth_of(plan, sizes); });
}

[[noreturn]] void throw_too_long(std::int64_t length) {
    throw Error(PERM_UNSUPPORTED,
                formatted("a length of {} cells is too much for exact numbers, whose size is not known "
                          "from doubles there: use precision dd or mod:P",
                          length));
}

// Exponents are added up in 63 bits. No row's sum has more than its entries' together.
void require_range(const PeriodicPlan &plan, std::int64_t last) {
    double ends = 0, cells = 0;
    for (std::size_t k = 0; k < plan.values.size(); ++k)
        (k < plan.matrix.entries.size() ? cells : ends) +=
            std::fabs(static_cast<double>(magnitude_of(plan.values[k]).exp2)) + 1;
    if (!(cells * static_cast<double>(last) + ends < 0x1p61))
        throw Error(PERM_UNSUPPORTED,
                    formatted("the permanent of {} cells may lie beyond 2^(2^61): ask for it modulo a "
                              "prime (precision mod:P)",
                              last));
}

// The trace of T^m is at most states * rho^m, for T >= 0.
std::vector<std::int64_t> trace_bits(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                                     const Growth &growth) {
    std::vector<std::int64_t> bits;
    const double states = std::log2(static_cast<double>(plan.states()) + 1),
                 each = std::log2(std::max(growth.upper, 1.0));
    for (std::int64_t m = first; m < first + count; ++m) {
        const double most = (states + each * static_cast<double>(m)) * (1 + 1e-14) + 2;
        if (!(most < 0x1p60)) throw_too_long(m);
        bits.push_back(static_cast<std::int64_t>(most));
    }
    return bits;
}

} // namespace

std::int64_t squared_from(const PeriodicPlan &plan, bool dd) {
    const auto squares = [&](std::int64_t m) { return cost_of(plan, m, 1, dd).squares(); };
    if (plan.tables || !may_be_squared(plan)) return 0;
    constexpr std::int64_t far = std::int64_t{1} << 60;
    std::int64_t high = plan.first_term() + 8;
    while (!squares(high) && high < far) high *= 2;
    if (!squares(high)) return 0;
    std::int64_t low = plan.first_term(); // here not
    while (high - low > 1) {
        const std::int64_t between = low + (high - low) / 2;
        (squares(between) ? high : low) = between;
    }
    return high;
}

double float_seconds(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, bool dd) {
    const Cost cost = cost_of(plan, first, count, dd);
    return std::min(cost.walking, cost.squaring);
}

std::vector<Outcome> float_terms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, bool dd) {
    using number::Complex, number::DD, number::Real;
    require_range(plan, first + count - 1);
    if (!plan.real && dd)
        return terms_in<Signed<Complex<DD<double>>>>(plan, plan.values, first, count, Arithmetic::complex_dd);
    if (!plan.real)
        return terms_in<Signed<Complex<Real<double>>>>(plan, plan.values, first, count, Arithmetic::complex);
    if (dd)
        return plan.nonnegative
                   ? terms_in<NonNegative<DD<double>>>(plan, plan.values, first, count, Arithmetic::dd)
                   : terms_in<Signed<DD<double>>>(plan, plan.values, first, count, Arithmetic::dd);
    return plan.nonnegative
               ? terms_in<NonNegative<Real<double>>>(plan, plan.values, first, count, Arithmetic::real)
               : terms_in<Signed<Real<double>>>(plan, plan.values, first, count, Arithmetic::real);
}

double most_term_bits(const PeriodicPlan &plan, std::int64_t m) {
    std::vector<std::vector<double>> log2_of(static_cast<std::size_t>(plan.matrix.rows)); // may lie far apart
    for (std::size_t k = 0; k < plan.matrix.entries.size(); ++k) {
        const Tracked size = magnitude_of(plan.values[k]);
        log2_of[static_cast<std::size_t>(plan.matrix.entries[k].row)].push_back(
            std::log2(size.magnitude) + static_cast<double>(size.exp2));
    }
    double bits = 0;
    for (std::vector<double> &row : log2_of) {
        if (row.empty()) return 0; // all permanents are 0
        std::sort(row.begin(), row.end(), std::greater<>());
        double sum = 0;
        for (std::size_t k = 0; k < row.size(); ++k) {
            const double next = k + 1 < row.size() ? std::exp2(row[k + 1] - row.front()) : 0;
            const auto size = static_cast<double>(k + 1);
            sum += (std::exp2(row[k] - row.front()) - next) * std::exp(log_factorial(size) / size);
        }
        bits += row.front() + std::log2(sum);
    }
    return std::max((bits * (1 + 1e-12) + 1e-9) * static_cast<double>(m), 0.0) + 2;
}

double estimated_bits(const PeriodicPlan &plan, std::int64_t m) {
    const std::vector<Gaussian> sizes = magnitudes_of(plan);
    if (plan.tables || !is_bracketed(plan, sizes)) return most_term_bits(plan, m);
    const Growth growth = growth_of_sizes(plan, sizes);
    return std::log2(std::max(growth.value, 1.0)) * static_cast<double>(m) + 2;
}

std::vector<std::int64_t> term_bits(const PeriodicPlan &plan, std::int64_t first, std::int64_t count) {
    if (plan.tables) {
        std::vector<std::int64_t> bits;
        for (std::int64_t m = first; m < first + count; ++m)
            bits.push_back(static_cast<std::int64_t>(most_term_bits(plan, m)) + 1);
        return bits;
    }
    const std::vector<Gaussian> sizes = magnitudes_of(plan);
    if (plan.joined() && is_bracketed(plan, sizes))
        return trace_bits(plan, first, count, growth_of_sizes(plan, sizes));
    require_range(plan, first + count - 1);
    std::vector<std::int64_t> bits;
    for (const Outcome &outcome :
         terms_in<NonNegative<number::Real<double>>>(plan, sizes, first, count, Arithmetic::real)) {
        if (!std::isfinite(outcome.error.mantissa)) throw_too_long(first + count - 1);
        const Scaled most = (Ball{outcome.value, {}} + Ball{outcome.error, {}}).value;
        bits.push_back(most.mantissa == 0 ? 1 : most.exp2 + 2);
    }
    return bits;
}

} // namespace libperm
