#include "lib/periodic/period/period_writer.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <limits>
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

} // namespace libperm
