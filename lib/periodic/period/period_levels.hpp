// A period's states, row by row: which there are, and the moves between them. A sparse operator is written as
// the factors that its rows are.
#pragma once

#include "jit/program/tape.hpp"
#include "lib/periodic/period/period_program.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/numbers.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace libperm {

// The states behind a row: each is the sum over its moves of an entry times a state before the row.
struct PeriodLevel {
    std::vector<std::uint32_t> first{0}; // of each state's moves, and their number
    std::vector<TapeMove> moves;
    bool ones = false; // all of their entries are 1

    std::size_t states() const { return first.size() - 1; }
};
using PeriodLevels = std::vector<PeriodLevel>;

double moves_of(const PeriodLevels &levels);

// Marks the levels that have entries of 1 alone.
void mark_ones(PeriodLevels &levels, const std::vector<Gaussian> &values);

using PeriodKeys = std::vector<PeriodKey>; // ascending

inline PeriodKey bit_of(std::int32_t slot) { return PeriodKey{1} << slot; }

constexpr std::int64_t far_away = std::int64_t{1} << 30; // cells: an end that is never come to

// Which rows and columns there are: cells begin ... begin + length - 1, and the ends' own columns.
class PeriodExtent {
  public:
    PeriodExtent(const PeriodicMatrix &a, std::int64_t begin, std::int64_t length)
        : a_(&a), begin_(begin), length_(length) {}

    std::int64_t begin() const { return begin_; }
    std::int64_t end() const { return begin_ + length_; }
    bool has_row(std::int64_t cell) const { return cell >= begin_ && cell < begin_ + length_; }
    bool has_column(std::int64_t cell, std::int32_t column) const {
        const std::int64_t place = (cell - begin_) * a_->rows + column;
        return place >= -a_->head.columns && place < length_ * a_->rows + a_->tail.columns;
    }

  private:
    const PeriodicMatrix *a_;
    std::int64_t begin_, length_;
};

class PeriodWriter {
  public:
    PeriodWriter(const PeriodicMatrix &a, const PeriodProgram &program, MemoryAccount *account)
        : a_(&a), program_(&program), account_(account), charge_(account) {}

    // The state before the first row.
    PeriodKey first_key(const PeriodExtent &extent, std::int64_t step) const;

    // The keys at the next cut; what led there goes to `levels`, as with all that follows.
    PeriodKeys step(PeriodKeys keys, const PeriodExtent &extent, std::int64_t step, PeriodLevels &levels);

    PeriodKeys head(PeriodKeys keys, const PeriodExtent &extent, PeriodLevels &levels);

    // From the cut before a step to where nothing is left, the tail's rows among it.
    PeriodKeys to_the_end(PeriodKeys keys, const PeriodExtent &extent, std::int64_t step,
                          PeriodLevels &levels);

    // The same states again.
    void stay(std::size_t states, PeriodLevels &levels) const;

  private:
    std::int64_t tail_step(const PeriodExtent &extent) const { return extent.end() + program_->most_shift; }
    std::int64_t last_step(const PeriodExtent &extent) const; // before it all columns have been closed
    PeriodKeys end(PeriodKeys keys, const PeriodicEnd &end, std::int64_t at_step, std::int64_t origin,
                   std::size_t first_entry, PeriodLevels &levels);
    PeriodKeys row(const PeriodKeys &keys, const std::vector<PeriodTerm> *terms, PeriodKey closes,
                   PeriodLevels &levels);
    std::uint32_t unit() const; // the entry 1

    const PeriodicMatrix *a_;
    const PeriodProgram *program_;
    MemoryAccount *account_;
    Charge charge_;
};

// Behind the levels of a step that leads from `keys` to some of them: all of them, in their order.
void close_period(PeriodLevels &levels, const PeriodKeys &reached, const PeriodKeys &keys);

// The operator of one period, written out as the factors that its rows are, with the way from the first row
// to the first whole step and from the last whole step to the end (docs/periodic.md).

// Maps of a block's states, each its own inverse, that commute; T D = (the product of the maps in twist) D T.
struct StateSymmetries {
    std::vector<std::vector<std::uint32_t>> image; // by map, by state
    std::vector<std::uint32_t> twist;              // by map: a bit for each map before it
};

// Leads from the states at a cut to the same at the next.
struct PeriodBlock {
    PeriodLevels levels;
    std::size_t states = 0;
    // Of joined ends: states whose loops are counted, each for so many like it, which may lie in other
    // blocks.
    struct Start {
        std::uint32_t state, like_it;
    };
    std::vector<Start> starts, even_starts; // for any length; for even ones, alone
    const std::vector<Start> &starts_of(std::int64_t first, std::int64_t count) const {
        return count == 1 && first % 2 == 0 ? even_starts : starts;
    }
    // Of joined ends: so many blocks have the same trace, and count with this one; 0: with another.
    std::uint32_t alike = 1;
    StateSymmetries symmetries;
};

struct OpenOperator {
    PeriodLevels start, finish; // from one state to those at the first cut; from those at the last one to one
    PeriodBlock period;
    std::int64_t least = 0; // cells of `start` and `finish`; the period stands for those beyond
};

// The values by the moves' entries: the cell's, the head's, the tail's, and 1.
std::vector<Gaussian> values_of_moves(const PeriodicMatrix &a);

// Of open ends. Only states that lie on a way from end to end; where there is none, none. `account` holds
// what is written; it may throw, and so may polling.
OpenOperator write_operator(const PeriodicMatrix &a, const PeriodProgram &program, MemoryAccount *account);

// The strongly connected components of an operator, those with a loop.
std::vector<PeriodBlock> loops_of(const PeriodLevels &levels);

// Of joined ends, all starts: the strongly connected components of the operator's graph, for from no other
// state a way leads back to where it began. The permanent is the sum of their traces. States that a symmetry
// of the cell makes of each other have as many loops: one of them is a start.
std::vector<PeriodBlock> write_loops(const PeriodicMatrix &a, const PeriodProgram &program,
                                     MemoryAccount *account);

// States from which the same leads to the end, in every number of steps, are one state: what is summed over
// them is all that counts (ordinary lumpability; Kemeny and Snell, Finite Markov Chains, 1960, section 6.3).
// Symmetries of a cell make such states, and so does chance.
// `values`: of the moves' entries. Equal values are equal moves.
void lump(OpenOperator &op, const std::vector<Gaussian> &values);

// Writes the levels of open ends and a few cells, from one state to one.
PeriodLevels write_few(const PeriodicMatrix &a, const PeriodProgram &program, std::int64_t length,
                       MemoryAccount *account);

// The numbers of a block's states, split by its symmetries (docs/periodic.md).
//
// Commuting maps of order two are diagonal together: by a sign for each there is a space of vectors that
// every map multiplies with its sign. An orbit of states has one dimension in it, where no map that leaves
// its states as they are has the sign -1. T leads from the sector of the signs s to that of signs s', s'_D =
// s_D times the sign of what T D = (...) D T has before D.
struct Sector {
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    std::vector<std::uint32_t> start; // a state of each orbit
    std::vector<std::uint32_t> orbit; // of each state, or none
    std::vector<bool> negative;       // of each state: against its orbit's start
    std::size_t next = 0;             // where T leads, and from there back

    std::size_t size() const { return start.size(); }
};

// The first has the sign 1 alone: its operator is the sums over orbits, and of T >= 0 nowhere below what the
// others' are in absolute value.
std::vector<Sector> sectors_of(const PeriodBlock &block);

inline std::size_t sectors_in(const PeriodBlock &block) {
    return std::size_t{1} << block.symmetries.image.size();
}

// What one thread takes to multiply all sectors with themselves: the sum of their sizes' third powers.
double sector_products(const PeriodBlock &block);

// work(s, times) for the sectors that T^m leads back to and that have states, for one of a pair, which counts
// twice.
template <class Work>
void for_each_trace(const std::vector<Sector> &sectors, std::int64_t m, const Work &work) {
    for (std::size_t s = 0; s < sectors.size(); ++s) {
        const std::size_t next = sectors[s].next;
        if (sectors[s].size() == 0 || sectors[next].size() == 0 || next < s || (next != s && m % 2 != 0))
            continue;
        work(s, std::uint32_t{next == s ? 1u : 2u});
    }
}

} // namespace libperm
