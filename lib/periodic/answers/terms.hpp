// The permanents of a periodic matrix by length, in any kind of numbers.
#pragma once

#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/period/period_walk.hpp"

#include <vector>

namespace libperm {

// `tell(a(m))` for m = first, first + 1, ...; so many. first >= 0, of joined ends >= 1. `begin(walk)` may
// take the first steps of what begins at the length that it gives back.
template <class Numbers, class Begin, class Tell>
void walk_open(const PeriodicPlan &plan, const Numbers &numbers,
               const std::vector<typename Numbers::Factor> &factors, std::int64_t first, std::int64_t count,
               const Begin &begin, const Tell &tell) {
    const OpenOperator &op = plan.open;
    for (; count > 0 && first < op.least; ++first, --count) {
        const PeriodLevels levels = write_few(plan.matrix, plan.program, first, &call().memory());
        PeriodWalk<Numbers> walk(numbers, factors);
        walk.begin(1, 0);
        walk.advance(levels);
        tell(walk.only());
    }
    if (count == 0) return;
    PeriodWalk<Numbers> walk(numbers, factors), end(numbers, factors);
    walk.begin(1, 0);
    walk.advance(op.start);
    const double work = moves_of(op.period.levels);
    walk_lengths(
        begin(walk), first, count,
        [&](std::int64_t) {
            end.set(walk.numbers());
            end.advance(op.finish);
            tell(end.only());
        },
        [&](std::int64_t m) {
            walk.advance(op.period.levels);
            call().advance(m < first ? work : 2 * work);
        });
}

// The traces of a(first) and those behind it, `traces.size()` of them; each is added to. Starts are shared
// among threads, and added up in their order.
template <class Numbers>
void walk_loops(const PeriodicPlan &plan, const Numbers &numbers,
                const std::vector<typename Numbers::Factor> &factors, std::int64_t first,
                std::vector<typename Numbers::Number> &traces) {
    using Number = typename Numbers::Number;
    constexpr std::size_t together = 64;
    for (const PeriodBlock &block : plan.loops) {
        const double work = moves_of(block.levels);
        const auto &starts = block.starts_of(first, std::ssize(traces));
        for (std::size_t begin = 0; begin < starts.size(); begin += together) {
            const std::size_t end = std::min(begin + together, starts.size());
            std::vector<std::vector<Number>> of_start(end - begin);
            parallel_for(end - begin, [&](std::uint64_t k) {
                const std::uint32_t start = starts[begin + k].state;
                PeriodWalk<Numbers> walk(numbers, factors);
                walk.begin(block.states, start);
                for (std::int64_t m = 1; m < first + static_cast<std::int64_t>(traces.size()); ++m) {
                    walk.advance(block.levels);
                    call().advance(work);
                    if (m >= first) of_start[k].push_back(walk.numbers()[start]);
                }
            });
            for (std::size_t k = 0; k < of_start.size(); ++k)
                for (std::size_t m = 0; m < traces.size(); ++m)
                    for (std::uint32_t like = 0; like < starts[begin + k].like_it; ++like)
                        traces[m] = numbers.add(traces[m], of_start[k][m]);
        }
    }
}

template <class Numbers>
std::vector<typename Numbers::Number> terms_of(const PeriodicPlan &plan, const Numbers &numbers,
                                               const std::vector<typename Numbers::Factor> &factors,
                                               std::int64_t first, std::int64_t count) {
    std::vector<typename Numbers::Number> terms;
    if (plan.joined()) {
        terms.assign(static_cast<std::size_t>(count), Numbers::zero());
        walk_loops(plan, numbers, factors, first, terms);
    } else {
        walk_open(
            plan, numbers, factors, first, count, [&](const auto &) { return plan.open.least; },
            [&](const auto &x) { terms.push_back(x); });
    }
    return terms;
}

} // namespace libperm
