// Numbers of states, carried along the levels of an operator.
#pragma once

#include "jit/lanes/residue_sums.hpp"
#include "jit/number/number.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/state_number.hpp"
#include "lib/periodic/period/period_levels.hpp"
#include "lib/run/call.hpp"
#include "lib/run/numbered_sum.hpp"
#include "preprocess/frontier_steps.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
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

// Numbers of an arithmetic alone, without magnitudes or exponents beside them.
template <class A> struct PlainNumbers {
    using Number = typename A::Number;
    using Factor = Number;
    static Number zero() { return A::number(0); }
    static Number one() { return A::number(1); }
    static Number add(const Number &x, const Number &y) { return A::add(x, y); }
    static Number multiply(const Factor &factor, const Number &x) { return A::multiply(factor, x); }
};

// What a walk makes of a level, in any kind of numbers. `Numbers`: Number, Factor, zero(), one(), add(),
// multiply(factor, number), as the frontier has them.
template <class Numbers> class MoveSums {
  public:
    using Number = typename Numbers::Number;
    using Factor = typename Numbers::Factor;
    using Levels = PeriodLevels;

    MoveSums(const Numbers &numbers, const std::vector<Factor> &factors)
        : numbers_(&numbers), factors_(&factors) {}

    static PeriodLevels levels_of(PeriodLevels levels) { return levels; }
    static Number zero() { return Numbers::zero(); }
    static Number one() { return Numbers::one(); }
    // y[s] for begin <= s < end.
    void sum(const PeriodLevel &level, std::size_t begin, std::size_t end, const Number *x, Number *y) const {
        with_fma([&] {
            level.ones ? sum_of<true>(level, begin, end, x, y) : sum_of<false>(level, begin, end, x, y);
        });
    }

    // Walks that are gone together, each from a start of its own: so many of a number, their numbers at the
    // starts, and the sum of these, each as often as there are starts like it.
    static constexpr std::size_t starts_at_once = 1;
    using Trace = Number;
    static void put_one(Number &x, std::size_t /*walk*/) { x = one(); }
    static Number at_starts(std::span<const PeriodBlock::Start> starts, const std::vector<Number> &x) {
        return x[starts.front().state];
    }
    void add_to(Trace &trace, const Number &x, std::span<const PeriodBlock::Start> starts) const {
        for (std::uint32_t like = 0; like < starts.front().like_it; ++like) trace = numbers_->add(trace, x);
    }

  private:
    template <bool Ones>
    void sum_of(const PeriodLevel &level, std::size_t begin, std::size_t end, const Number *x,
                Number *y) const {
        const auto term = [&](const TapeMove &move) -> Number {
            if constexpr (Ones) return x[move.source];
            return numbers_->multiply((*factors_)[move.entry], x[move.source]);
        };
        for (std::size_t s = begin; s < end; ++s) {
            std::uint32_t m = level.first[s];
            const std::uint32_t last = level.first[s + 1];
            if (m == last) {
                y[s] = zero();
                continue;
            }
            Number total = term(level.moves[m]);
            while (++m < last) total = numbers_->add(total, term(level.moves[m]));
            y[s] = total;
        }
    }

    const Numbers *numbers_;
    const std::vector<Factor> *factors_;
};

// Of an operator whose entries are all 1: where each sum takes from. Two levels are one where that has hardly
// more moves: each state between them costs as much as some.
struct LaneLevel {
    std::vector<std::uint32_t> first{0}, source;

    std::size_t states() const { return first.size() - 1; }
};
using LaneLevels = std::vector<LaneLevel>;
LaneLevels lane_levels(const PeriodLevels &levels);

// What a walk makes of these modulo primes below 2^59 by less than most_below, eight at once
// (jit/lanes/residue_sums.hpp): one for each lane, the last also in those that are left.
class LaneSums {
  public:
    using Number = ResidueLanes;
    using Levels = LaneLevels;

    explicit LaneSums(std::span<const std::uint64_t> primes) {
        for (std::size_t k = 0; k < residue_lanes; ++k)
            below_.lane[k] = whole - primes[std::min(k, primes.size() - 1)];
    }

    static LaneLevels levels_of(const PeriodLevels &levels) { return lane_levels(levels); }
    static Number zero() { return {}; }
    static Number one() {
        Number x;
        x.lane.fill(1);
        return x;
    }
    void sum(const LaneLevel &level, std::size_t begin, std::size_t end, const Number *x, Number *y) const {
        add_up_residues(level.first.data(), level.source.data(), begin, end, below_, x, y);
    }
    std::uint64_t residue(const Number &x, std::size_t k) const { return x.lane[k] % prime(k); }

    // A lane each; all primes are the same.
    static constexpr std::size_t starts_at_once = residue_lanes;
    using Trace = std::uint64_t;
    static void put_one(Number &x, std::size_t walk) { x.lane[walk] = 1; }
    static Number at_starts(std::span<const PeriodBlock::Start> starts, const std::vector<Number> &x) {
        Number out;
        for (std::size_t k = 0; k < starts.size(); ++k) out.lane[k] = x[starts[k].state].lane[k];
        return out;
    }
    void add_to(Trace &trace, const Number &x, std::span<const PeriodBlock::Start> starts) const {
        __extension__ using Wide = unsigned __int128;
        Wide sum = trace;
        for (std::size_t k = 0; k < starts.size(); ++k)
            sum += static_cast<Wide>(residue(x, k)) * starts[k].like_it;
        trace = static_cast<std::uint64_t>(sum % prime(0));
    }

  private:
    static constexpr std::uint64_t whole = std::uint64_t{1} << residue_lane_bits;
    std::uint64_t prime(std::size_t k) const { return whole - below_.lane[k]; }

    ResidueLanes below_;
};

// `Sums`: MoveSums or LaneSums, which outlive it.
template <class Sums> class PeriodWalk {
  public:
    using Number = typename Sums::Number;

    explicit PeriodWalk(const Sums &sums) : sums_(&sums), charge_(&call().memory()) {}

    void advance(const typename Sums::Levels &levels) {
        constexpr std::size_t moves_of_a_piece = 1 << 14, least_pieces = 3; // fewer are not shared
        for (const auto &level : levels) {
            y_.resize(level.states());
            charge_.resize(static_cast<std::int64_t>((x_.capacity() + y_.capacity()) * sizeof(Number)));
            const std::size_t pieces = level.first.back() / moves_of_a_piece + 1; // by its moves alone
            const NumberedPieces cut = NumberedPieces::so_many(level.states(), pieces);
            if (pieces < least_pieces)
                sums_->sum(level, 0, level.states(), x_.data(), y_.data());
            else
                parallel_for(pieces, [&](std::uint64_t p) {
                    sums_->sum(level, cut[p].first, cut[p].last, x_.data(), y_.data());
                });
            std::swap(x_, y_);
        }
    }

    const std::vector<Number> &numbers() const { return x_; }
    Number only() const { return x_.empty() ? Sums::zero() : x_.front(); } // where one state is left, or none
    void set(std::vector<Number> numbers) { x_ = std::move(numbers); }

  private:
    const Sums *sums_;
    std::vector<Number> x_, y_;
    Charge charge_;
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
