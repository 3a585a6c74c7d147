#include "lib/hermite/hermite.hpp"

#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/hermite/books.hpp"
#include "lib/hermite/table.hpp"
#include "lib/input/options.hpp"
#include "lib/number/bits.hpp"
#include "lib/number/ranged.hpp"
#include "lib/number/residue_numbers.hpp"
#include "lib/number/with_fma.hpp"
#include "lib/run/outcome_bytes.hpp"
#include "lib/run/pieces.hpp"
#include "preprocess/frontier_program.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace libperm {
namespace {

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

// What needs no books: all numbers are good for all there is.
template <class Numbers> class Unbounded : public Numbers {
  public:
    explicit Unbounded(const Numbers &numbers) : Numbers(numbers) {}
    static bool holds(const Extent &) { return true; }
};

// Residues of the entries in use alone, where others are not given.
template <class Numbers> class ResiduesRead : public Unbounded<Numbers> {
  public:
    ResiduesRead(const Numbers &numbers, const std::vector<std::int64_t> &entries)
        : Unbounded<Numbers>(numbers), entries_(entries) {}

    const auto &begin_step(FrontierStep step) {
        for (FrontierTerm &t : step.terms)
            if (!entries_.empty())
                t.entry = std::lower_bound(entries_.begin(), entries_.end(), t.entry) - entries_.begin();
        return Numbers::begin_step(step);
    }

  private:
    const std::vector<std::int64_t> &entries_;
};

struct HermiteWork {
    const HermitePlan &plan;
    RunControl &control;

    template <class Trait> std::optional<typename Trait::Number> last(Trait &numbers, Counts &counts) const {
        return HermiteTable<Trait>(plan, numbers, control).compute(counts);
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
    RunControl part(work.control, 1 / static_cast<double>(passes));
    const HermiteWork pass{work.plan, part};
    Counts counts;
    ResidueVector all = in_passes(residues, residues_at_once, [&]<class Trait>(const Trait &of_primes) {
        ResiduesRead<Trait> numbers(of_primes, residues.entries);
        return *pass.last(numbers, counts);
    });
    return {std::move(all), counts};
}

EngineResult compute_hermite(const HermitePlan &plan, const EngineInput &input, RunControl &control,
                             bool scaled) {
    const HermiteWork work{plan, control};
    if (const Residues *residues = input.residues()) return in_residues(work, *residues);
    if (const Block *block = input.block()) return in_doubles(work, *block);
    return in_wide(work, wide_entries(*input.exact(), input.arithmetic(), scaled, [&] { control.poll(); }));
}

EngineResult hermite_zero(const EngineInput &input) {
    if (const Residues *residues = input.residues()) return {ResidueVector(residues->primes.size(), 0), {}};
    if (input.block()) return {Ball{}, {}};
    return {WideBall{}, {}};
}

} // namespace

DoublesHafnian hafnian_of_doubles(const HermitePlan &plan, const DoublesGraph &graph, RunControl &control) {
    const HermiteWork work{plan, control};
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

EngineResult run_hermite(const HermitePlan &plan, const EngineInput &input, RunControl &control,
                         bool scaled) {
    const auto compute = [&](std::span<const std::uint64_t> todo, const auto &done) {
        for (const std::uint64_t k : todo) {
            control.begin_piece();
            done(k, compute_hermite(plan, input, control, scaled));
        }
    };
    const double work = hermite_operations(plan);
    return std::move(parts_of_pieces(control, 1, work, hermite_zero(input), compute).front());
}

EngineResult run_hermite(const EngineRun &run, const EngineInput &input) {
    return run_hermite(*plan_as<HermitePlan>(run.choice), input, run.control, run.options.passes.scaling);
}

} // namespace libperm
