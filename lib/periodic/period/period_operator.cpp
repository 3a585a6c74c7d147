#include "lib/periodic/period/period_operator.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace libperm {
namespace {

// Finds the states before a level from which a wanted one is reached.
std::vector<bool> wanted_before(const PeriodLevel &level, const std::vector<bool> &wanted,
                                std::size_t sources) {
    std::vector<bool> before(sources, false);
    for (std::size_t s = 0; s < level.states(); ++s)
        if (wanted[s])
            for (std::uint32_t m = level.first[s]; m < level.first[s + 1]; ++m)
                before[level.moves[m].source] = true;
    return before;
}
std::vector<bool> wanted_before(const PeriodLevels &levels, std::vector<bool> wanted, std::size_t sources) {
    for (std::size_t l = levels.size(); l-- > 0;)
        wanted = wanted_before(levels[l], wanted, l == 0 ? sources : levels[l - 1].states());
    return wanted;
}

std::vector<std::uint32_t> numbers_of(const std::vector<bool> &kept) {
    std::vector<std::uint32_t> number(kept.size());
    std::uint32_t next = 0;
    for (std::size_t s = 0; s < kept.size(); ++s) number[s] = kept[s] ? next++ : next;
    return number;
}

// Leaves `kept` of the states behind the last level, `before` of those before the first, and of the others
// those that lie between.
void keep(PeriodLevels &levels, std::vector<bool> before, const std::vector<bool> &kept) {
    std::vector<std::vector<bool>> wanted(levels.size());
    std::vector<bool> next = kept;
    for (std::size_t l = levels.size(); l-- > 0;) {
        wanted[l] = next;
        if (l > 0) next = wanted_before(levels[l], next, levels[l - 1].states());
    }
    for (std::size_t l = 0; l < levels.size(); ++l) {
        const std::vector<std::uint32_t> number = numbers_of(before);
        PeriodLevel out;
        std::vector<bool> stays(levels[l].states(), false);
        for (std::size_t s = 0; s < levels[l].states(); ++s) {
            if (!wanted[l][s]) continue;
            const std::size_t begin = out.moves.size();
            for (std::uint32_t m = levels[l].first[s]; m < levels[l].first[s + 1]; ++m)
                if (const TapeMove move = levels[l].moves[m]; before[move.source])
                    out.moves.push_back({number[move.source], move.entry});
            const bool last = l + 1 == levels.size(); // those stay whatever leads there
            if (out.moves.size() == begin && !last) continue;
            stays[s] = true;
            out.first.push_back(static_cast<std::uint32_t>(out.moves.size()));
        }
        levels[l] = std::move(out);
        before = std::move(stays);
    }
}

std::size_t count(const std::vector<bool> &kept) {
    return static_cast<std::size_t>(std::count(kept.begin(), kept.end(), true));
}

// Finds what is reached from `keys` in any number of steps, and the levels of one step of it.
PeriodKeys closure(PeriodWriter &writer, const PeriodExtent &extent, PeriodKeys keys, PeriodLevels &levels) {
    for (;;) {
        levels.clear();
        const PeriodKeys reached = writer.step(keys, extent, extent.begin() + far_away / 2, levels);
        PeriodKeys all;
        std::set_union(keys.begin(), keys.end(), reached.begin(), reached.end(), std::back_inserter(all));
        if (all.size() == keys.size()) {
            close_period(levels, reached, keys);
            return keys;
        }
        keys = std::move(all);
    }
}

// Steps that the first or the last cells have for themselves.
struct Ramps {
    std::int64_t up = 0, down = 0;
};

Ramps ramps_of(const PeriodProgram &program) {
    Ramps ramps{program.most_shift, 0};
    for (const PeriodWindow &w : program.windows) {
        ramps.up = std::max<std::int64_t>(ramps.up, w.first);
        ramps.down = std::max<std::int64_t>(ramps.down, -w.first);
    }
    return ramps;
}

} // namespace

std::vector<Gaussian> values_of_moves(const PeriodicMatrix &a) {
    std::vector<Gaussian> values = a.values;
    values.insert(values.end(), a.head.values.begin(), a.head.values.end());
    values.insert(values.end(), a.tail.values.begin(), a.tail.values.end());
    values.push_back({1, 0});
    return values;
}

OpenOperator write_operator(const PeriodicMatrix &a, const PeriodProgram &program, MemoryAccount *account) {
    PeriodWriter writer(a, program, account);
    const Ramps ramps = ramps_of(program);
    OpenOperator out;
    out.least = ramps.up + ramps.down;

    const PeriodExtent from_start(a, 0, far_away);
    writer.stay(1, out.start);
    PeriodKeys first = writer.head({writer.first_key(from_start, 0)}, from_start, out.start);
    for (std::int64_t step = 0; step < ramps.up; ++step)
        first = writer.step(first, from_start, step, out.start);
    const PeriodExtent endless(a, -far_away, 2 * far_away);
    const PeriodKeys keys = closure(writer, endless, first, out.period.levels);
    close_period(out.start, first, keys);

    const PeriodExtent to_end(a, -far_away, far_away);
    writer.stay(keys.size(), out.finish);
    const PeriodKeys last = writer.to_the_end(keys, to_end, -ramps.down, out.finish);

    // All are reached; those from which the end is, in some number of steps.
    std::vector<bool> wanted = wanted_before(out.finish, std::vector<bool>(last.size(), true), keys.size());
    for (std::size_t before = 0; before != count(wanted);) {
        before = count(wanted);
        const std::vector<bool> more = wanted_before(out.period.levels, wanted, keys.size());
        for (std::size_t s = 0; s < wanted.size(); ++s) wanted[s] = wanted[s] || more[s];
    }
    keep(out.start, {true}, wanted);
    keep(out.period.levels, wanted, wanted);
    keep(out.finish, wanted, std::vector<bool>(last.size(), true));
    out.period.states = count(wanted);
    return out;
}

PeriodLevels write_few(const PeriodicMatrix &a, const PeriodProgram &program, std::int64_t length,
                       MemoryAccount *account) {
    PeriodWriter writer(a, program, account);
    const PeriodExtent extent(a, 0, length);
    PeriodLevels levels;
    writer.stay(1, levels);
    const PeriodKeys first = writer.head({writer.first_key(extent, 0)}, extent, levels);
    writer.to_the_end(first, extent, 0, levels);
    return levels;
}

} // namespace libperm
