// The permanents of a periodic matrix by length, in any kind of numbers.
#pragma once

#include "lib/number/residues.hpp"
#include "lib/number/state_number.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/period/period_walk.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

// A plan's, as Sums (period_walk.hpp) take them.
template <class Levels> struct OpenLevels { const Levels &start, &period, &finish; };
inline OpenLevels<PeriodLevels> levels_of(const OpenOperator &op) {
    return {op.start, op.period.levels, op.finish};
}

// `tell(a(m))` for m = first, first + 1, ...; so many. first >= 0. `begin(walk)` may take the first steps of
// what begins at the length that it gives back.
template <class Sums, class Begin, class Tell>
void walk_open(const PeriodicPlan &plan, const Sums &sums, const OpenLevels<typename Sums::Levels> &levels,
               std::int64_t first, std::int64_t count, const Begin &begin, const Tell &tell) {
    const OpenOperator &op = plan.open;
    PeriodWalk<Sums> walk(sums), end(sums);
    for (; count > 0 && first < op.least; ++first, --count) {
        end.set({Sums::one()});
        end.advance(Sums::levels_of(write_few(plan.matrix, plan.program, first, &call().memory())));
        tell(end.only());
    }
    if (count == 0) return;
    walk.set({Sums::one()});
    walk.advance(levels.start);
    const double work = moves_of(op.period.levels);
    walk_lengths(
        begin(walk), first, count,
        [&](std::int64_t) {
            end.set(walk.numbers());
            end.advance(levels.finish);
            tell(end.only());
        },
        [&](std::int64_t m) {
            walk.advance(levels.period);
            call().advance(m < first ? work : 2 * work);
        });
}

// The traces of a(first) and those behind it, so many; first >= 1. levels(b): of block b of joined ends.
// Starts are shared among threads, and added up in their order.
template <class Sums, class LevelsOf>
std::vector<typename Sums::Trace> traces_of(const PeriodicPlan &plan, const Sums &sums,
                                            const LevelsOf &levels, std::int64_t first, std::int64_t count) {
    using Number = typename Sums::Number;
    constexpr std::size_t together = 64;
    std::vector<typename Sums::Trace> traces(static_cast<std::size_t>(count));
    for (std::size_t b = 0; b < plan.loops.size(); ++b) {
        const PeriodBlock &block = plan.loops[b];
        const std::span starts(block.starts_of(first, count));
        const NumberedPieces walks = NumberedPieces::of_length(starts.size(), Sums::starts_at_once);
        const auto starts_of = [&](std::uint64_t w) {
            return starts.subspan(walks[w].first, walks[w].last - walks[w].first);
        };
        for (std::uint64_t begin = 0; begin < walks.count(); begin += together) {
            std::vector<std::vector<Number>> numbers(
                std::min<std::uint64_t>(together, walks.count() - begin));
            parallel_for(numbers.size(), [&](std::uint64_t k) {
                const std::span some = starts_of(begin + k);
                std::vector<Number> x(block.states, Sums::zero());
                for (std::size_t s = 0; s < some.size(); ++s) Sums::put_one(x[some[s].state], s);
                PeriodWalk<Sums> walk(sums);
                walk.set(std::move(x));
                const double work = moves_of(block.levels) * static_cast<double>(some.size());
                for (std::int64_t m = 1; m < first + count; ++m) {
                    walk.advance(levels(b));
                    call().advance(work);
                    if (m >= first) numbers[k].push_back(Sums::at_starts(some, walk.numbers()));
                }
            });
            for (std::size_t k = 0; k < numbers.size(); ++k)
                for (std::size_t m = 0; m < traces.size(); ++m)
                    sums.add_to(traces[m], numbers[k][m], starts_of(begin + k));
        }
    }
    return traces;
}

template <class Numbers>
std::vector<typename Numbers::Number> terms_of(const PeriodicPlan &plan, const Numbers &numbers,
                                               const std::vector<typename Numbers::Factor> &factors,
                                               std::int64_t first, std::int64_t count) {
    const MoveSums<Numbers> sums(numbers, factors);
    if (plan.joined())
        return traces_of(
            plan, sums, [&](std::size_t b) -> const PeriodLevels & { return plan.loops[b].levels; }, first,
            count);
    std::vector<typename Numbers::Number> terms;
    walk_open(
        plan, sums, levels_of(plan.open), first, count, [&](const auto &) { return plan.open.least; },
        [&](const auto &x) { terms.push_back(x); });
    return terms;
}

// Terms far out: the operator as full matrices, squared again and again, in doubles, in twice as many or in
// residues (docs/periodic.md, "Powers").

// Whether a period's numbers stay in the range of doubles, its entries scaled.
bool may_be_squared(const PeriodicPlan &plan);

// The moves' entries, none of whose sizes is below its absolute value: they are the same where none is
// negative.
struct SquaredEntries {
    const std::vector<Gaussian> &values, &sizes;

    bool are_sizes() const { return &values == &sizes; }
};

// A: doubles or pairs of them, real or complex.
template <class A> struct FloatSquares {
    using Number = Ranged<Signed<A>>;

    // a(m) of joined ends, the sum of the traces of its blocks' sectors; with it the sum of the terms'
    // absolute values, which covers what doubles have lost.
    static Number term(const PeriodicPlan &plan, const SquaredEntries &entries, std::int64_t m);

    // The states of open ends so many periods behind `x`.
    static std::vector<Number> advanced(const PeriodicPlan &plan, const SquaredEntries &entries,
                                        std::vector<Number> x, std::int64_t periods);
};

// a(m) of joined ends, of the whole numbers that `residues` are, modulo its first prime.
std::uint64_t trace_modulo(const PeriodicPlan &plan, const Residues &residues, std::int64_t m);

// Seconds on one thread: in doubles or pairs of them; modulo a prime.
double squares_seconds(const PeriodicPlan &plan, std::int64_t m, bool complex, bool dd);
double residue_squares_seconds(const PeriodicPlan &plan, std::int64_t m, std::uint64_t prime);

} // namespace libperm
