// Numbers of states, carried along the levels of an operator.
#pragma once

#include "jit/number/number.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/state_number.hpp"
#include "lib/periodic/period/period_levels.hpp"
#include "lib/run/call.hpp"
#include "lib/run/numbered_sum.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <vector>

namespace libperm {

// Along the terms from that of length `begin` on: tell(m) for `count` lengths from the first, step(m)
// between.
template <class Tell, class Step>
void walk_lengths(std::int64_t begin, std::int64_t first, std::int64_t count, const Tell &tell,
                  const Step &step) {
    for (std::int64_t m = begin; m < first + count; ++m) {
        if (m >= first) tell(m);
        if (m + 1 < first + count) step(m);
    }
}

// sum(begin, end) for the states of a level, in pieces by its moves alone; fewer than `least` are not shared.
template <class Sum>
void sum_states(std::size_t states, std::size_t pieces, std::size_t least, const Sum &sum) {
    if (pieces < least) return sum(0, states);
    const NumberedPieces cut = NumberedPieces::so_many(states, pieces);
    parallel_for(pieces, [&](std::uint64_t p) { sum(cut[p].first, cut[p].last); });
}

// work.operator()<K>() for K primes at once: of so many that are left.
template <class Work> auto with_primes_at_once(std::size_t left, const Work &work) {
    if (left == 1) return work.template operator()<1>();
    if (left == 2) return work.template operator()<2>();
    return work.template operator()<residues_at_once>();
}

// A residue as devices have it, next to 0, and back.
inline double next_to_zero(std::uint64_t residue, std::uint64_t prime) {
    return residue > prime / 2 ? -static_cast<double>(prime - residue) : static_cast<double>(residue);
}
inline std::uint64_t residue_of(double next_to_zero, std::uint64_t prime) {
    const auto x = static_cast<std::int64_t>(next_to_zero);
    return static_cast<std::uint64_t>(x < 0 ? x + static_cast<std::int64_t>(prime) : x);
}

// Numbers of an arithmetic alone, without magnitudes or exponents beside them.
template <class A> struct PlainNumbers {
    using Number = typename A::Number;
    using Factor = Number;
    static Number zero() { return A::number(0); }
    static Number one() { return A::number(1); }
    static Number add(const Number &x, const Number &y) { return A::add(x, y); }
    static Number multiply(const Factor &factor, const Number &x) { return A::multiply(factor, x); }
};

// `Numbers`: Number, Factor, zero(), one(), add(), multiply(factor, number), as the frontier has them.
template <class Numbers> class PeriodWalk {
  public:
    using Number = typename Numbers::Number;
    using Factor = typename Numbers::Factor;

    PeriodWalk(const Numbers &numbers, const std::vector<Factor> &factors)
        : numbers_(&numbers), factors_(&factors) {}

    // The number 1 in one of so many states.
    void begin(std::size_t states, std::size_t state) {
        x_.assign(states, Numbers::zero());
        x_[state] = Numbers::one();
    }

    void advance(const PeriodLevels &levels) {
        for (const PeriodLevel &level : levels) {
            y_.resize(level.states());
            sum_states(level.states(), level.moves.size() / moves_of_a_piece + 1, 2,
                       [&](std::size_t begin, std::size_t end) { sum(level, begin, end); });
            std::swap(x_, y_);
        }
    }

    const std::vector<Number> &numbers() const { return x_; }
    Number only() const {
        return x_.empty() ? Numbers::zero() : x_.front();
    } // where one state is left, or none
    void set(std::vector<Number> numbers) { x_ = std::move(numbers); }

  private:
    static constexpr std::size_t moves_of_a_piece = 1 << 15;

    void sum(const PeriodLevel &level, std::size_t begin, std::size_t end) {
        with_fma([&] { level.ones ? sum_of<true>(level, begin, end) : sum_of<false>(level, begin, end); });
    }
    template <bool Ones> void sum_of(const PeriodLevel &level, std::size_t begin, std::size_t end) {
        for (std::size_t s = begin; s < end; ++s) {
            std::uint32_t m = level.first[s];
            const std::uint32_t last = level.first[s + 1];
            if (m == last) {
                y_[s] = Numbers::zero();
                continue;
            }
            Number total = term<Ones>(level.moves[m]);
            while (++m < last) total = numbers_->add(total, term<Ones>(level.moves[m]));
            y_[s] = total;
        }
    }
    template <bool Ones> Number term(const TapeMove &move) const {
        if constexpr (Ones) return x_[move.source];
        return numbers_->multiply((*factors_)[move.entry], x_[move.source]);
    }

    const Numbers *numbers_;
    const std::vector<Factor> *factors_;
    std::vector<Number> x_, y_;
};

// Roundings on the way of a term through the levels, where each product takes so many: as the frontier's
// ledger counts them for numbers with exponents of their own.
inline double roundings_along(const PeriodLevels &levels, double of_product, double of_entry) {
    double roundings = 0;
    for (const PeriodLevel &level : levels) {
        std::uint32_t longest = 1;
        for (std::size_t s = 0; s < level.states(); ++s)
            longest = std::max(longest, level.first[s + 1] - level.first[s]);
        roundings += of_entry + of_product + 1 + 2 * (longest - 1.0);
    }
    return roundings;
}

// A step of all entries, of which the number traits make factors: they are no row's.
inline FrontierStep all_entries(std::size_t count) {
    FrontierStep step;
    step.terms.resize(count);
    for (std::size_t k = 0; k < count; ++k) step.terms[k].entry = static_cast<std::int64_t>(k);
    return step;
}

} // namespace libperm
