#include "lib/periodic/period/period_levels.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace libperm {
namespace {

struct Candidate {
    PeriodKey key;
    TapeMove move;
};

} // namespace

PeriodKey PeriodWriter::first_key(const PeriodExtent &extent, std::int64_t step) const {
    PeriodKey key = 0;
    for (std::size_t c = 0; c < program_->windows.size(); ++c) {
        const PeriodWindow &w = program_->windows[c];
        for (std::int64_t cell = step - w.last; cell + w.first < step; ++cell)
            if (!extent.has_column(cell, static_cast<std::int32_t>(c))) key |= bit_of(w.slot_of(cell, step));
    }
    return key;
}

PeriodKeys PeriodWriter::step(PeriodKeys keys, const PeriodExtent &extent, std::int64_t step,
                              PeriodLevels &levels) {
    PeriodKey absent = 0;
    for (std::size_t c = 0; c < program_->windows.size(); ++c) {
        const PeriodWindow &w = program_->windows[c];
        const std::int64_t cell = step - w.first;
        if (!extent.has_column(cell, static_cast<std::int32_t>(c))) absent |= bit_of(w.slot_of(cell, step));
    }
    for (PeriodKey &key : keys) key |= absent;
    for (const PeriodRow &row : program_->rows) {
        const bool is_there = extent.has_row(step - row.shift);
        keys = this->row(keys, is_there ? &row.terms : nullptr, row.closes, levels);
    }
    for (PeriodKey &key : keys) key >>= 1;
    return keys;
}

PeriodKeys PeriodWriter::head(PeriodKeys keys, const PeriodExtent &extent, PeriodLevels &levels) {
    return end(std::move(keys), a_->head, extent.begin(), extent.begin(), a_->entries.size(), levels);
}

std::int64_t PeriodWriter::last_step(const PeriodExtent &extent) const {
    const std::int64_t beyond = (a_->tail.columns + a_->rows - 1) / a_->rows;
    std::int64_t last = 0;
    for (const PeriodWindow &w : program_->windows) last = std::max<std::int64_t>(last, w.last);
    return std::max(tail_step(extent), extent.end() + beyond + last);
}

PeriodKeys PeriodWriter::to_the_end(PeriodKeys keys, const PeriodExtent &extent, std::int64_t step,
                                    PeriodLevels &levels) {
    for (;; ++step) {
        if (step == tail_step(extent))
            keys = end(std::move(keys), a_->tail, step, extent.end(),
                       a_->entries.size() + a_->head.entries.size(), levels);
        if (step >= last_step(extent)) return keys;
        keys = this->step(std::move(keys), extent, step, levels);
    }
}

void PeriodWriter::stay(std::size_t states, PeriodLevels &levels) const {
    PeriodLevel level;
    for (std::uint32_t s = 0; s < states; ++s) {
        level.moves.push_back({s, unit()});
        level.first.push_back(s + 1);
    }
    levels.push_back(std::move(level));
}

std::uint32_t PeriodWriter::unit() const {
    return static_cast<std::uint32_t>(a_->entries.size() + a_->head.entries.size() + a_->tail.entries.size());
}

PeriodKeys PeriodWriter::end(PeriodKeys keys, const PeriodicEnd &end, std::int64_t at_step,
                             std::int64_t origin, std::size_t first_entry, PeriodLevels &levels) {
    std::vector<std::vector<PeriodTerm>> rows(at(end.rows));
    for (std::size_t k = 0; k < end.entries.size(); ++k) {
        const PeriodicEntry &e = end.entries[k];
        const PeriodWindow &w = program_->windows[at(e.column)];
        rows[at(e.row)].push_back(
            {w.slot_of(origin + e.cell, at_step), static_cast<std::int32_t>(first_entry + k)});
    }
    for (const auto &terms : rows) keys = row(keys, &terms, 0, levels);
    return keys;
}

// No terms: a row that is not there.
PeriodKeys PeriodWriter::row(const PeriodKeys &keys, const std::vector<PeriodTerm> *terms, PeriodKey closes,
                             PeriodLevels &levels) {
    std::vector<Candidate> found;
    const std::size_t each = terms ? terms->size() : 1;
    const Charge candidates(account_, static_cast<std::int64_t>(keys.size() * each * sizeof(Candidate)));
    if (keys.size() >= std::numeric_limits<std::uint32_t>::max() / std::max<std::size_t>(each, 1))
        throw Error(PERM_REFUSED_MEMORY,
                    formatted("a period has more than 2^32 moves: {} states before a row of "
                              "{} entries",
                              keys.size(), each));
    PolledSteps steps;
    found.reserve(keys.size() * each);
    for (std::uint32_t s = 0; s < keys.size(); ++s) {
        steps.take(static_cast<std::int64_t>(8 * each) + 8);
        const auto reach = [&](PeriodKey key, std::uint32_t entry) {
            if ((key & closes) == closes) found.push_back({key ^ closes, {s, entry}});
        };
        if (!terms)
            reach(keys[s], unit());
        else
            for (const PeriodTerm &t : *terms)
                if ((keys[s] & bit_of(t.slot)) == 0)
                    reach(keys[s] | bit_of(t.slot), static_cast<std::uint32_t>(t.entry));
    }
    poll();
    std::sort(found.begin(), found.end(), [&](const Candidate &x, const Candidate &y) {
        steps.take(16);
        return x.key != y.key ? x.key < y.key : x.move.source < y.move.source;
    });
    constexpr std::size_t of_allocations = 64; // a level of few moves is hardly more than these
    charge_.grow(static_cast<std::int64_t>(found.size() * (sizeof(TapeMove) + sizeof(PeriodKey) + 4) +
                                           sizeof(PeriodLevel) + of_allocations));
    PeriodKeys out;
    PeriodLevel level;
    level.moves.reserve(found.size());
    for (const Candidate &c : found) {
        if (out.empty() || out.back() != c.key) {
            if (!out.empty()) level.first.push_back(static_cast<std::uint32_t>(level.moves.size()));
            out.push_back(c.key);
        }
        level.moves.push_back(c.move);
    }
    if (!out.empty()) level.first.push_back(static_cast<std::uint32_t>(level.moves.size()));
    levels.push_back(std::move(level));
    return out;
}

// The levels of a step that leads from `keys` to keys of the same set: behind the last the states are those.
void close_period(PeriodLevels &levels, const PeriodKeys &reached, const PeriodKeys &keys) {
    PeriodLevel &last = levels.back();
    PeriodLevel out;
    std::size_t r = 0;
    for (const PeriodKey key : keys) {
        while (r < reached.size() && reached[r] < key) ++r;
        if (r < reached.size() && reached[r] == key)
            out.moves.insert(out.moves.end(), last.moves.begin() + last.first[r],
                             last.moves.begin() + last.first[r + 1]);
        out.first.push_back(static_cast<std::uint32_t>(out.moves.size()));
    }
    last = std::move(out);
}

double moves_of(const PeriodLevels &levels) {
    double moves = 0;
    for (const PeriodLevel &level : levels) moves += static_cast<double>(level.moves.size());
    return moves;
}

void mark_ones(PeriodLevels &levels, const std::vector<Gaussian> &values) {
    const Gaussian one{1, 0};
    for (PeriodLevel &level : levels)
        level.ones = std::all_of(level.moves.begin(), level.moves.end(),
                                 [&](const TapeMove &move) { return values[move.entry] == one; });
}

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

namespace {

using Partition = std::vector<std::uint32_t>; // a block for each state

// Numbers blocks in the order in which they are met.
class Blocks {
  public:
    std::uint32_t of(const std::vector<std::uint64_t> &signature) {
        return known_.try_emplace(signature, static_cast<std::uint32_t>(known_.size())).first->second;
    }
    std::size_t count() const { return known_.size(); }

  private:
    std::unordered_map<std::vector<std::uint64_t>, std::uint32_t, boost::hash<std::vector<std::uint64_t>>>
        known_;
};

std::size_t count(const Partition &partition) {
    return partition.empty() ? 0 : *std::max_element(partition.begin(), partition.end()) + std::size_t{1};
}

PeriodLevel level_of(const std::vector<std::vector<TapeMove>> &moves) { // by the state that they lead to
    PeriodLevel out;
    for (const auto &some : moves) {
        out.moves.insert(out.moves.end(), some.begin(), some.end());
        out.first.push_back(static_cast<std::uint32_t>(out.moves.size()));
    }
    return out;
}

// Lists by source what the moves of a level lead to.
struct Outward {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> target, entry;

    Outward(const PeriodLevel &level, std::size_t sources)
        : first(sources + 1, 0), target(level.moves.size()), entry(level.moves.size()) {
        for (const TapeMove &move : level.moves) ++first[move.source + std::size_t{1}];
        for (std::size_t s = 0; s < sources; ++s) first[s + 1] += first[s];
        std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
        for (std::uint32_t t = 0; t < level.states(); ++t)
            for (std::uint32_t m = level.first[t]; m < level.first[t + 1]; ++m) {
                const std::uint32_t place = next[level.moves[m].source]++;
                target[place] = t;
                entry[place] = level.moves[m].entry;
            }
    }
};

class Quotient {
  public:
    Quotient(PeriodLevels &levels, std::size_t sources, const std::vector<std::uint32_t> &kinds)
        : levels_(&levels), kinds_(&kinds) {
        for (const PeriodLevel &level : levels) {
            outward_.emplace_back(level, sources);
            sources = level.states();
        }
        behind_.resize(levels.size());
    }

    // Refines the states before the levels, given the partition of those behind them.
    Partition refined(Partition behind) {
        PolledSteps steps;
        std::vector<std::uint64_t> signature;
        for (std::size_t l = levels_->size(); l-- > 0;) {
            const Outward &moves = outward_[l];
            Blocks blocks;
            Partition before(moves.first.size() - 1);
            for (std::size_t s = 0; s < before.size(); ++s) {
                signature.clear();
                for (std::uint32_t m = moves.first[s]; m < moves.first[s + 1]; ++m)
                    signature.push_back(std::uint64_t{behind[moves.target[m]]} << 32 |
                                        (*kinds_)[moves.entry[m]]);
                steps.take(16 + 16 * static_cast<std::int64_t>(signature.size()));
                std::sort(signature.begin(), signature.end());
                before[s] = blocks.of(signature);
            }
            behind_[l] = std::exchange(behind, std::move(before));
        }
        return behind;
    }

    // The levels between blocks: of each, one of its states speaks for all.
    void write(Partition before) {
        for (std::size_t l = 0; l < levels_->size(); ++l) {
            const Partition &behind = behind_[l];
            std::vector<std::vector<TapeMove>> moves(count(behind));
            std::vector<bool> spoken(count(before), false);
            for (std::size_t s = 0; s < before.size(); ++s) {
                if (spoken[before[s]]) continue;
                spoken[before[s]] = true;
                for (std::uint32_t m = outward_[l].first[s]; m < outward_[l].first[s + 1]; ++m)
                    moves[behind[outward_[l].target[m]]].push_back({before[s], outward_[l].entry[m]});
            }
            before = behind;
            (*levels_)[l] = level_of(moves);
        }
    }

  private:
    PeriodLevels *levels_;
    const std::vector<std::uint32_t> *kinds_;
    std::vector<Outward> outward_;
    std::vector<Partition> behind_;
};

// Blocks that agree in both.
Partition common(const Partition &x, const Partition &y) {
    Blocks blocks;
    Partition out(x.size());
    for (std::size_t s = 0; s < x.size(); ++s) out[s] = blocks.of({x[s], y[s]});
    return out;
}

void join_targets(PeriodLevel &level, const Partition &partition) {
    std::vector<std::vector<TapeMove>> moves(count(partition));
    for (std::size_t s = 0; s < level.states(); ++s)
        moves[partition[s]].insert(moves[partition[s]].end(), level.moves.begin() + level.first[s],
                                   level.moves.begin() + level.first[s + 1]);
    level = level_of(moves);
}

} // namespace

void lump(OpenOperator &op, const std::vector<Gaussian> &values) {
    if (op.period.states < 2) return;
    const std::vector<std::uint32_t> kinds = kinds_of(values);
    Quotient finish(op.finish, op.period.states, kinds), period(op.period.levels, op.period.states, kinds);
    Partition partition = finish.refined(Partition(op.finish.back().states(), 0));
    for (;;) {
        const Partition finer = common(partition, period.refined(partition));
        if (count(finer) == count(partition)) break;
        partition = finer;
    }
    if (count(partition) == op.period.states) return;
    join_targets(op.start.back(), partition);
    period.write(partition);
    finish.write(partition);
    op.period.states = count(partition);
}

} // namespace libperm
