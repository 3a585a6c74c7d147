#include "lib/hermite/hermite.hpp"

#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/hermite/table.hpp"
#include "lib/input/options.hpp"
#include "lib/number/bits.hpp"
#include "lib/number/ranged.hpp"
#include "lib/number/residue_numbers.hpp"
#include "lib/number/state_number.hpp"
#include "lib/number/wide_entries.hpp"
#include "lib/number/with_fma.hpp"
#include "lib/run/engine_result.hpp"
#include "lib/run/outcome_bytes.hpp"
#include "lib/run/pieces.hpp"
#include "preprocess/frontier_program.hpp"
#include "preprocess/index.hpp"
#include "preprocess/log_factorial.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace libperm {
namespace {

// Matchings of so many lines, each of which may stay single: about sqrt(n!) e^sqrt(n) (Chowla, Herstein and
// Moore, Canad. J. Math. 3 (1951)).
double bits_of_matchings(std::int64_t lines) {
    const auto n = static_cast<double>(lines);
    return (log_factorial(n) / 2 + std::sqrt(n)) / std::log(2.0);
}

// Of the entries in use: all are multiples of the unit, and below 2^top; of a loop those of its square.
struct Range {
    std::int64_t unit = std::numeric_limits<std::int64_t>::max(),
                 top = std::numeric_limits<std::int64_t>::min();
    bool is_exact = true, has_loops = false;
};

void widen(Range &range, const Tracked &x, bool is_loop) {
    range.is_exact = range.is_exact && x.roundings == 0;
    range.has_loops = range.has_loops || is_loop;
    if (x.magnitude != 0) range.top = std::max(range.top, x.exp2 * (is_loop ? 2 : 1));
    if (x.value != 0)
        range.unit = std::min(range.unit, (unit_exponent(x.value) + x.exp2) * (is_loop ? 2 : 1));
}

// A scaled block, or its entries in numbers of several doubles; both outlive what is made of them.
struct HermiteEntries {
    const Block &block; // of magnitudes, if wide
    const WideEntries *wide = nullptr;

    Arithmetic arithmetic() const { return wide ? wide->arithmetic : Arithmetic::real; }
};

// The books of a table of doubles: what its entries are scaled by, and in which ways the result can differ
// from the hafnian.
class HermiteBooks {
  public:
    // `exponents`: the numbers have their own.
    HermiteBooks(const HermitePlan &plan, const HermiteEntries &entries, bool exponents);

    struct Coefficient {
        PackedParts value{};
        double magnitude = 0;
        std::int64_t exp2 = 0; // of both, where the numbers have exponents
    };
    Coefficient coefficient(std::int64_t entry, bool is_loop);

    // Whether no number that was met is near the ends of a double's range.
    bool holds(const Extent &extent);

    // The last number's value and magnitude, both times 2^exp2.
    EngineResult close(const PackedParts &value, double magnitude, std::int64_t exp2 = 0) const;

  private:
    void find_scale();
    double roundings() const;

    const HermitePlan &plan_;
    HermiteEntries entries_;
    bool exponents_;
    std::int64_t lines_ = 0;
    std::int64_t scale_ = 0; // edges are times 2^-scale_, loops times half that
    bool whole_ = false;     // whole numbers then, which no operation rounds below 2^53
    Extent coefficients_, met_{1, 1};
};

HermiteBooks::HermiteBooks(const HermitePlan &plan, const HermiteEntries &entries, bool exponents)
    : plan_(plan), entries_(entries), exponents_(exponents) {
    for (const EqualLines &kind : plan.kinds) lines_ += kind.count;
    if (!exponents) find_scale();
}

// Whole numbers, where their products stay in range whatever there is to be met; else numbers of about 1.
void HermiteBooks::find_scale() {
    Range range;
    for (const std::int64_t k : plan_.loops)
        if (k >= 0) widen(range, entries_.block.values[at(k)], true);
    for (const std::int64_t k : plan_.edges)
        if (k >= 0) widen(range, entries_.block.values[at(k)], false);
    if (range.unit > range.top) return; // all are 0
    const auto even = [&](std::int64_t x) { return range.has_loops && x % 2 != 0 ? x - 1 : x; };
    const std::int64_t unit = even(range.unit);
    const double most_bits =
        static_cast<double>(range.top - unit) * static_cast<double>(lines_) / 2 + bits_of_matchings(lines_);
    whole_ = !entries_.wide && range.is_exact && range.top - unit <= 53 && most_bits < 900;
    scale_ = whole_ ? unit : even(range.top);
}

HermiteBooks::Coefficient HermiteBooks::coefficient(std::int64_t entry, bool is_loop) {
    const Tracked &x = entries_.block.values[at(entry)];
    Coefficient c{{x.value}, x.magnitude, x.exp2};
    if (entries_.wide) c.value = entries_.wide->parts[at(entry)];
    if (exponents_) return c;
    const int scale = ldexp_exponent(x.exp2 - (is_loop ? scale_ / 2 : scale_));
    for (double &part : c.value) part = std::ldexp(part, scale);
    if (x.magnitude == 0) return c;
    c.magnitude = std::ldexp(x.magnitude, scale);
    coefficients_ = join(coefficients_, {c.magnitude, c.magnitude});
    return c;
}

// Far from both, so that what underflows in a product is less than a rounding of it.
bool HermiteBooks::holds(const Extent &extent) {
    if (exponents_) return true;
    met_ = join(met_, extent);
    const double largest = std::max(1.0, coefficients_.largest) * met_.largest;
    const double smallest = std::min(1.0, coefficients_.smallest) * met_.smallest;
    return whole_ || (largest < 0x1p800 && smallest > (entries_.wide ? 0x1p-600 : 0x1p-900));
}

// On the way of a term: each line that is taken is a product of its entry, which may have been rounded, and
// of a count; and each count of a kind's lines that are gone adds all that leads to it. One more for what
// underflows. With exponents of their own products and sums also cut something off.
double HermiteBooks::roundings() const {
    const double of_product = product_roundings(entries_.arithmetic()) + (exponents_ ? 1 : 0);
    double sum = most_roundings(entries_.block) + 1;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
        double additions = plan_.loops[i] >= 0;
        for (std::size_t j = i; j < plan_.size(); ++j) additions += plan_.edge(i, j) >= 0;
        sum += plan_.kinds[i].count *
               (2 * of_product + (entries_.wide ? 1 : 0) + additions * (exponents_ ? 2 : 1));
    }
    return sum;
}

EngineResult HermiteBooks::close(const PackedParts &value, double magnitude, std::int64_t exp2) const {
    const Arithmetic arithmetic = entries_.arithmetic();
    const bool is_exact = whole_ && met_.largest < 0x1p52;
    const double error = is_exact ? 0 : rounding_error(roundings(), unit_of(arithmetic), magnitude);
    // scale_ is even where there are loops, and the lines are where there are none.
    exp2 += scale_ % 2 == 0 ? scale_ / 2 * lines_ : lines_ / 2 * scale_;
    if (entries_.wide)
        return {ball_within(unpacked(value, arithmetic), error, exp2 - entries_.wide->exp2), {}};
    return {ball_within(value.front(), error, exp2), {}};
}

// Doubles, alone or several for a number, as a table has them (lib/hermite/table.hpp): N is
// NonNegative or Signed.
template <class N> struct PlainOperations {
    using Number = N;
    using Factor = N;
    static constexpr bool has_exponents = false;

    static Number zero() { return N::number(0); }
    static Number one() { return N::number(1); }
    static Number add(const Number &x, const Number &y) { return x + y; }
    static Number multiply(const Factor &factor, const Number &x) { return factor * x; }
    static Factor times(const Factor &factor, std::int32_t copies) { return factor * N::number(copies); }
    static Factor factor_of(const N &coefficient, std::int64_t) { return coefficient; }
    static const N &number_of(const Number &x) { return x; }
    static std::int64_t exponent_of(const Number &) { return 0; }

    static Extent extent_of(const Number *numbers, std::size_t count) {
        Extent extent;
        for (std::size_t k = 0; k < count; ++k) {
            const double size = numbers[k].magnitude();
            extent.largest = std::max(extent.largest, size);
            if (size != 0) extent.smallest = std::min(extent.smallest, size);
        }
        return extent;
    }
};

template <class N> struct WithExponents : RangedOperations<N> {
    using typename RangedOperations<N>::Number, typename RangedOperations<N>::Factor;
    static constexpr bool has_exponents = true;

    static Factor times(const Factor &factor, std::int32_t copies) {
        return factor * Factor::normalised(N::number(copies), 0);
    }
    static Factor factor_of(const N &coefficient, std::int64_t exp2) {
        return Factor::normalised(coefficient, exp2);
    }
    static const N &number_of(const Number &x) { return x.number; }
    static std::int64_t exponent_of(const Number &x) { return x.exp2; }
    static Extent extent_of(const Number *, std::size_t) { return {1, 1}; }
};

template <class N, template <class> class Operations> class HermiteNumbers : public Operations<N> {
  public:
    using typename Operations<N>::Number, typename Operations<N>::Factor;
    static constexpr bool is_slow = false;

    HermiteNumbers(const HermitePlan &plan, const HermiteEntries &entries)
        : plan_(plan), books_(plan, entries, Operations<N>::has_exponents) {}
    template <class Work> static void with(const Work &work) { with_fma(work); }

    const std::vector<Factor> &begin_step(const FrontierStep &step) {
        factors_.clear();
        for (const FrontierTerm &t : step.terms) {
            const bool is_loop = std::ranges::find(plan_.loops, t.entry) != plan_.loops.end();
            const HermiteBooks::Coefficient c = books_.coefficient(t.entry, is_loop);
            typename N::Arithmetic::Number value;
            std::memcpy(&value, c.value.data(), sizeof value);
            factors_.push_back(Operations<N>::factor_of(N::coefficient(value, c.magnitude), c.exp2));
        }
        return factors_;
    }
    bool holds(const Extent &extent) { return books_.holds(extent); }

    EngineResult close(const Number &last) const {
        const N &number = Operations<N>::number_of(last);
        PackedParts value{};
        std::memcpy(value.data(), &number.value, sizeof number.value);
        return books_.close(value, number.magnitude(), Operations<N>::exponent_of(last));
    }

  private:
    const HermitePlan &plan_;
    HermiteBooks books_;
    std::vector<Factor> factors_;
};

// Residues of the entries in use alone, where others are not given. They need no books: all numbers are good
// for all there is.
template <class Numbers> class ResiduesRead : public Numbers {
  public:
    ResiduesRead(const Numbers &numbers, const std::vector<std::int64_t> &entries)
        : Numbers(numbers), entries_(entries) {}

    const auto &begin_step(FrontierStep step) {
        for (FrontierTerm &t : step.terms)
            if (!entries_.empty())
                t.entry = std::lower_bound(entries_.begin(), entries_.end(), t.entry) - entries_.begin();
        return Numbers::begin_step(step);
    }
    static bool holds(const Extent &) { return true; }

  private:
    const std::vector<std::int64_t> &entries_;
};

struct HermiteWork {
    const HermitePlan &plan;

    template <class Trait> std::optional<typename Trait::Number> last(Trait &numbers, Counts &counts) const {
        return HermiteTable<Trait>(plan, numbers).compute(counts);
    }
    template <class N, template <class> class Operations>
    std::optional<EngineResult> in_doubles(const HermiteEntries &entries) const {
        HermiteNumbers<N, Operations> numbers(plan, entries);
        Counts counts;
        const auto number = last(numbers, counts);
        if (!number) return {};
        EngineResult result = numbers.close(*number);
        result.counts = counts;
        return result;
    }
    template <class N> EngineResult bounded(const HermiteEntries &entries) const {
        if (auto result = in_doubles<N, PlainOperations>(entries)) return *std::move(result);
        log_decision(
            "engine hermite: numbers leave the range of doubles, so again with exponents of their own");
        return *in_doubles<N, WithExponents>(entries);
    }
};

bool is_nonnegative(const HermitePlan &plan, const Block &block) {
    const auto is = [&](std::int64_t k) {
        return k < 0 || block.values[static_cast<std::size_t>(k)].value ==
                            block.values[static_cast<std::size_t>(k)].magnitude;
    };
    return std::ranges::all_of(plan.loops, is) && std::ranges::all_of(plan.edges, is);
}

EngineResult in_doubles(const HermiteWork &work, const Block &block) {
    using R = number::Real<double>;
    return is_nonnegative(work.plan, block) ? work.bounded<NonNegative<R>>({block})
                                            : work.bounded<Signed<R>>({block});
}

EngineResult in_wide(const HermiteWork &work, const WideEntries &wide) {
    using number::Complex, number::DD, number::Real;
    const HermiteEntries entries{wide.magnitudes, &wide};
    switch (wide.arithmetic) {
    case Arithmetic::complex:
        return work.bounded<Signed<Complex<Real<double>>>>(entries);
    case Arithmetic::dd:
        return wide.nonnegative ? work.bounded<NonNegative<DD<double>>>(entries)
                                : work.bounded<Signed<DD<double>>>(entries);
    case Arithmetic::complex_dd:
        return work.bounded<Signed<Complex<DD<double>>>>(entries);
    default:
        throw Error(PERM_INTERNAL, "engine hermite: exact entries in an arithmetic that needs none");
    }
}

EngineResult in_residues(const HermiteWork &work, const Residues &residues) {
    const std::size_t passes = (residues.primes.size() + residues_at_once - 1) / residues_at_once;
    CurrentCall part(1 / static_cast<double>(passes));
    const HermiteWork pass{work.plan};
    Counts counts;
    ResidueVector all = in_passes(residues, residues_at_once, [&]<class Trait>(const Trait &of_primes) {
        ResiduesRead<Trait> numbers(of_primes, residues.entries);
        return *pass.last(numbers, counts);
    });
    return {std::move(all), counts};
}

EngineResult compute_hermite(const HermitePlan &plan, const EngineInput &input, bool scaled) {
    const HermiteWork work{plan};
    if (const Residues *residues = input.residues()) return in_residues(work, *residues);
    if (const Block *block = input.block()) return in_doubles(work, *block);
    return in_wide(work, wide_entries(*input.exact(), input.arithmetic(), scaled));
}

EngineResult hermite_zero(const EngineInput &input) {
    if (const Residues *residues = input.residues()) return {ResidueVector(residues->primes.size(), 0), {}};
    if (input.block()) return {Ball{}, {}};
    return {WideBall{}, {}};
}

} // namespace

DoublesHafnian hafnian_of_doubles(const HermitePlan &plan, const DoublesGraph &graph) {
    const HermiteWork work{plan};
    if (is_real(graph)) {
        Block block{graph.pattern, {}};
        for (const std::complex<double> &x : graph.values) block.values.push_back(tracked(x.real()));
        const auto ball = std::get<Ball>(in_doubles(work, block).value);
        return {ball.value, {}, ball.error};
    }
    WideEntries wide{Arithmetic::complex, false, {graph.pattern, {}}, {}, 0};
    for (const std::complex<double> &x : graph.values) {
        const Tracked size = tracked(std::abs(x) * (1 + 0x1p-50));
        const auto part = [&](double of) { return std::ldexp(of, ldexp_exponent(-size.exp2)); };
        wide.magnitudes.values.push_back(size);
        wide.parts.push_back({part(x.real()), part(x.imag())});
    }
    const auto ball = std::get<WideBall>(in_wide(work, wide).value);
    const auto scaled = [](const mpq_class &x) { // which has been a double
        const Tracked near = tracked_of(x);
        return make_scaled(near.value, near.exp2);
    };
    return {scaled(ball.value.re), scaled(ball.value.im), ball.error};
}

EngineResult run_hermite(const HermitePlan &plan, const EngineInput &input, bool scaled) {
    const auto compute = [&](std::span<const std::uint64_t> todo, const auto &done) {
        for (const std::uint64_t k : todo) {
            call().begin_piece();
            done(k, compute_hermite(plan, input, scaled));
        }
    };
    const double work = hermite_operations(plan);
    return std::move(parts_of_pieces(1, work, hermite_zero(input), compute).front());
}

EngineResult run_hermite(const EngineRun &run, const EngineInput &input) {
    return run_hermite(*plan_as<HermitePlan>(run.choice), input, run.options.passes.scaling);
}

} // namespace libperm
