// The hafnian of kinds of equal lines, by the recurrence of multidimensional Hermite polynomials (Dodonov,
// Man'ko and Man'ko, Phys. Rev. A 50, 813 (1994)). With c_ij an entry between lines of the kinds i and j, l_i
// a loop, (n)_j a count and e_i one line of a kind, for any i with (n)_i > 0
//
//   H(n) = l_i H(n - e_i) + sum over j of c_ij (n - e_i)_j H(n - e_i - e_j),     H(0) = 1.
//
// It is gone through from the end: T(u) is the sum over all ways to match the lines taken so far to each
// other and to u lines of the kinds behind. A line of kind i is taken by its loop, with one of the m_j - u_j
// lines of a kind behind that are left, or with one of its own kind:
//
//   T_s(u) = l_i T_s-1(u) + sum over j > i of c_ij (m_j - u_j + 1) T_s-1(u - e_j) + c_ii (m_i - s + 1)
//   T_s-2(u),
//
// where s lines of kind i are gone, and to which is added what those before have used s lines of kind i for.
// So the counts of the first kind are taken in two or three tables, in turn; those of the others where they
// are.
//
// A Trait is as the frontier's (lib/frontier/numbers.hpp): Number and Factor, begin_step, times(factor,
// copies), multiply(factor, number), add, zero, one, extent_of; with(work) around what does these; is_slow.
// Also holds(extent): the numbers are good for what has been met.

#include "lib/hermite/hermite.hpp"

#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/input/options.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/state_number.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/run/call.hpp"
#include "lib/run/memory_budget.hpp"
#include "lib/run/outcome_bytes.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/results.hpp"
#include "preprocess/binomials.hpp"
#include "preprocess/frontier_steps.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace libperm {

template <class Trait> class HermiteTable {
  public:
    using Number = typename Trait::Number;
    using Factor = typename Trait::Factor;

    HermiteTable(const HermitePlan &plan, Trait &numbers)
        : plan_(plan), kinds_(plan.kinds), numbers_(numbers), table_(call().memory()) {
        stride_.assign(kinds_.size(), 1);
        for (std::size_t k = kinds_.size() - 1; k > 0; --k)
            stride_[k - 1] = stride_[k] * (at(kinds_[k].count) + 1);
        find_factors();
    }

    // None: the numbers are not good for it.
    std::optional<Number> compute(Counts &counts) {
        const std::size_t tables = at(hermite_tables(plan_)), size = stride_[0];
        counts.peak_states = std::max(counts.peak_states, static_cast<double>(tables * size));
        counts.peak_bytes =
            std::max(counts.peak_bytes, static_cast<std::int64_t>(tables * size * sizeof(Number)));
        table_.grow(tables * size); // what no line can have used is never touched
        std::fill_n(table_.data(), stride_[first_of_block(kinds_, 0) - 1], numbers_.zero());
        table_.data()[0] = numbers_.one();
        Number *from = nullptr;
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            const Kind kind(*this, i);
            // A table for each count, of all kinds behind: of the first those that are needed, in turn.
            const auto of_count = [&](std::int32_t s) {
                return i == 0 ? table_.data() + at(s) % tables * size : from + at(s) * stride_[i];
            };
            for (std::int32_t s = 1; s <= kinds_[i].count; ++s)
                if (!take_line(kind, {s, of_count(s), of_count(s - 1), s > 1 ? of_count(s - 2) : nullptr, {}},
                               counts))
                    return {};
            taken_ += kinds_[i].count;
            from = of_count(kinds_[i].count);
        }
        return *from;
    }

  private:
    // What a line of one kind is taken with.
    struct Kind {
        std::size_t number, first_of_block, block, blocks;
        std::vector<std::vector<Factor>> before;   // by kind and count
        std::vector<std::vector<Factor>> in_block; // by kind and place
        std::int64_t terms = 1;

        Kind(const HermiteTable &table, std::size_t i)
            : number(i),
              first_of_block(libperm::first_of_block(table.kinds_, i)),
              block(table.stride_[first_of_block - 1]),
              blocks(table.stride_[i] / block),
              before(table.kinds_.size()),
              in_block(table.kinds_.size()) {
            terms += table.loops_[i].has_value() + (table.edge(i, i) != nullptr);
            for (std::size_t j = i + 1; j < table.kinds_.size(); ++j) {
                const Factor *factor = table.edge(i, j);
                if (!factor) continue;
                ++terms;
                const std::int32_t m = table.kinds_[j].count;
                std::vector<Factor> by_count(1, table.numbers_.times(*factor, 0));
                for (std::int32_t u = 1; u <= m; ++u)
                    by_count.push_back(table.numbers_.times(*factor, m - u + 1));
                if (j >= first_of_block)
                    for (std::size_t x = 0; x < block; ++x)
                        in_block[j].push_back(by_count[x / table.stride_[j] % (at(m) + 1)]);
                else
                    before[j] = std::move(by_count);
            }
        }
    };

    struct Step {
        std::int32_t gone; // lines of the kind
        Number *to;
        const Number *before, *before_that;
        std::optional<Factor> pair;
    };

    void find_factors() {
        FrontierStep step;
        const auto add = [&step](std::int64_t entry) {
            if (entry < 0) return;
            FrontierTerm term{};
            term.entry = entry;
            term.multiplicity = 1;
            step.terms.push_back(term);
        };
        for (const std::int64_t entry : plan_.loops) add(entry);
        for (const std::int64_t entry : plan_.edges) add(entry);
        const std::vector<Factor> &factors = numbers_.begin_step(step);
        std::size_t next = 0;
        for (const std::int64_t entry : plan_.loops)
            loops_.push_back(entry < 0 ? std::nullopt : std::optional<Factor>(factors[next++]));
        for (const std::int64_t entry : plan_.edges)
            edges_.push_back(entry < 0 ? std::nullopt : std::optional<Factor>(factors[next++]));
    }
    const Factor *edge(std::size_t i, std::size_t j) const {
        const std::optional<Factor> &factor = edges_[i * kinds_.size() + j];
        return factor ? &*factor : nullptr;
    }

    // Counts of the kinds before the block: those of block number `number`.
    struct Place {
        std::vector<std::int32_t> counts;
        std::int64_t sum = 0;
    };
    Place place_of(const Kind &kind, std::size_t number) const {
        Place place{std::vector<std::int32_t>(kinds_.size(), 0)};
        for (std::size_t j = kind.first_of_block; j-- > kind.number + 1;) {
            const std::size_t states = at(kinds_[j].count) + 1;
            place.counts[j] = static_cast<std::int32_t>(number % states);
            place.sum += place.counts[j];
            number /= states;
        }
        return place;
    }
    void next(const Kind &kind, Place &place) const {
        for (std::size_t j = kind.first_of_block; j-- > kind.number + 1;) {
            if (place.counts[j] < kinds_[j].count) {
                ++place.counts[j];
                ++place.sum;
                return;
            }
            place.sum -= place.counts[j];
            place.counts[j] = 0;
        }
    }

    bool take_line(const Kind &kind, Step step, Counts &counts) {
        const std::int64_t operations = static_cast<std::int64_t>(kind.block) * kind.terms;
        constexpr std::int64_t of_a_piece = 1 << 17;
        const std::int64_t grain =
            std::max<std::int64_t>(1, of_a_piece / (Trait::is_slow ? 64 : 1) / operations);
        if (const Factor *of_two = edge(kind.number, kind.number); of_two && step.gone > 1)
            step.pair = numbers_.times(*of_two, kinds_[kind.number].count - step.gone + 1);
        const auto run = [&](std::int64_t begin, std::int64_t end) {
            Reached reached;
            Trait::with([&] {
                Place place = place_of(kind, static_cast<std::size_t>(begin));
                for (std::int64_t b = begin; b < end; ++b, next(kind, place)) {
                    if (place.sum > taken_ + step.gone) continue;
                    const std::size_t first = static_cast<std::size_t>(b) * kind.block;
                    fill_block(kind, place, step, first);
                    reached = join(reached, {Trait::extent_of(step.to + first, kind.block), 1});
                }
            });
            call().advance(reached.blocks * static_cast<double>(operations));
            return reached;
        };
        const auto blocks = static_cast<std::int64_t>(kind.blocks);
        const Reached reached = blocks <= grain ? run(0, blocks) : parallel_reduce(blocks, grain, run);
        counts.operations += reached.blocks * static_cast<double>(operations);
        counts.states += reached.blocks * static_cast<double>(kind.block);
        return numbers_.holds(reached.extent);
    }

    struct Reached {
        Extent extent;
        double blocks = 0;

        friend Reached join(const Reached &x, const Reached &y) {
            return {join(x.extent, y.extent), x.blocks + y.blocks};
        }
    };

    // Of fewer lines fewer can have been used: what has not been filled before is 0.
    void fill_block(const Kind &kind, const Place &place, const Step &step, std::size_t first) const {
        Number *const to = step.to + first;
        const Number *const before = step.before + first;
        const std::int64_t lines = taken_ + step.gone - place.sum;
        if (2 * step.gone > lines) std::fill_n(to, kind.block, numbers_.zero());
        const auto add = [&](const Factor &factor, const Number *from) {
            for (std::size_t x = 0; x < kind.block; ++x)
                to[x] = numbers_.add(to[x], numbers_.multiply(factor, from[x]));
        };
        if (loops_[kind.number] && lines >= 1) add(*loops_[kind.number], before);
        if (step.pair && lines >= 2) add(*step.pair, step.before_that + first);
        for (std::size_t j = kind.number + 1; j < kind.first_of_block; ++j)
            if (!kind.before[j].empty() && place.counts[j] > 0)
                add(kind.before[j][at(place.counts[j])], before - stride_[j]);
        for (std::size_t j = kind.first_of_block; j < kinds_.size(); ++j) {
            if (kind.in_block[j].empty() || lines < 1) continue;
            const Factor *const factors = kind.in_block[j].data(); // 0 where none is used
            const std::size_t apart = stride_[j];
            for (std::size_t x = apart; x < kind.block; ++x)
                to[x] = numbers_.add(to[x], numbers_.multiply(factors[x], before[x - apart]));
        }
    }

    const HermitePlan &plan_;
    const std::vector<EqualLines> &kinds_;
    Trait &numbers_;
    std::vector<std::size_t> stride_; // of each kind's count; all that is behind it
    std::vector<std::optional<Factor>> loops_, edges_;
    Buffer<Number> table_;
    std::int64_t taken_ = 0; // lines of the kinds before
};

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

template <class N> class HermiteNumbers : public BoundedOperations<N> {
    using Operations = BoundedOperations<N>;

  public:
    using typename Operations::Number, typename Operations::Factor, typename Operations::Plain;
    static constexpr bool is_slow = false;

    HermiteNumbers(const HermitePlan &plan, const HermiteEntries &entries)
        : plan_(plan), books_(plan, entries, Operations::has_exponents) {}
    template <class Work> static void with(const Work &work) { with_fma(work); }

    const std::vector<Factor> &begin_step(const FrontierStep &step) {
        factors_.clear();
        for (const FrontierTerm &t : step.terms) {
            const bool is_loop = std::ranges::find(plan_.loops, t.entry) != plan_.loops.end();
            const HermiteBooks::Coefficient c = books_.coefficient(t.entry, is_loop);
            typename Plain::Arithmetic::Number value;
            std::memcpy(&value, c.value.data(), sizeof value);
            factors_.push_back(Operations::with_exponent(Plain::coefficient(value, c.magnitude), c.exp2));
        }
        return factors_;
    }
    static Extent extent_of(const Number *numbers, std::size_t count) {
        if constexpr (Operations::has_exponents) return {1, 1};
        Extent extent;
        for (std::size_t k = 0; k < count; ++k) {
            const double size = Operations::plain(numbers[k]).magnitude();
            extent.largest = std::max(extent.largest, size);
            if (size != 0) extent.smallest = std::min(extent.smallest, size);
        }
        return extent;
    }
    bool holds(const Extent &extent) { return books_.holds(extent); }

    EngineResult close(const Number &last) const {
        const Plain &number = Operations::plain(last);
        PackedParts value{};
        std::memcpy(value.data(), &number.value, sizeof number.value);
        return books_.close(value, number.magnitude(), Operations::exponent_of(last));
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
    template <class N> std::optional<EngineResult> in_doubles(const HermiteEntries &entries) const {
        HermiteNumbers<N> numbers(plan, entries);
        Counts counts;
        const auto number = last(numbers, counts);
        if (!number) return {};
        EngineResult result = numbers.close(*number);
        result.counts = counts;
        return result;
    }
    template <class N> EngineResult bounded(const HermiteEntries &entries) const {
        if (auto result = in_doubles<N>(entries)) return *std::move(result);
        log_decision(
            "engine hermite: numbers leave the range of doubles, so again with exponents of their own");
        return *in_doubles<Ranged<N>>(entries);
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
