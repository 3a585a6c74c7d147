// In which order a walk over sets of lines meets the lines of the other side: a line of the sets waits from
// the first that has an entry in it to the last, and a table has a number for each set of those that wait.
#pragma once

#include "lib/input/input_pattern.hpp"
#include "preprocess/pattern.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

struct SetOrder {
    std::vector<std::int32_t> lines; // rows of the pattern
    double operations = 0;           // of one walk forwards, about
    std::int32_t widest = 0;         // lines that wait at once, those that the line met has among them
};

// The most lines that may wait at once: a table of 2^33 numbers.
constexpr std::int32_t most_waiting = 33;

// Rows are met, sets are of columns. The best of some greedy orders.
SetOrder greedy_set_order(const Pattern &rows);

// Betters it by moving single rows, for about a tenth of the time that the walk takes. Deterministic.
void better_set_order(const Pattern &rows, std::uint64_t seed, SetOrder &order);

// What a walk over sets of lines does with a pattern: the lines of one side are met one by one, in an order
// in which few of the others wait, and a table has a number for each set of these. Which tables are kept.

// Places of weights that are none of the caller's.
constexpr std::int64_t absent_weight = -1, weight_one = -2; // 0, 1

struct SetMove { // an entry
    std::int32_t bit;
    std::int64_t place; // of its value among the caller's, and of its marginal
    std::int32_t line;  // of the other side
};

struct SetClosing {         // a line that no further one can take
    std::int32_t bit;       // in the table that is left of the closings before it
    std::int64_t unmatched; // its weight's place
    std::int64_t told;      // where it is told that it stays unmatched
    std::int32_t line;
};

struct SetLayer {                      // a line that is met
    std::int32_t before = 0, open = 0; // lines that wait before, and with those it opens
    std::vector<SetMove> moves;        // by bit, ascending
    std::vector<SetClosing> closings;  // highest bit first
    std::int64_t unmatched = absent_weight, told = 0;

    std::int32_t after() const { return open - static_cast<std::int32_t>(closings.size()); }
};

class SetLayers {
  public:
    // None: more wait than a table may have, whichever side is met.
    static std::optional<SetLayers> of(const InputPattern &given, std::uint64_t seed);
    // The longer side's lines in their order; all of the other side wait from the first of them to the last,
    // and are `alone` behind it.
    static SetLayers all_waiting(const InputPattern &given);

    const std::vector<SetLayer> &layers() const { return layers_; }
    const std::vector<SetClosing> &alone() const { return alone_; } // without an entry: they stay unmatched
    std::int32_t lines() const { return lines_; }                   // of the other side
    std::int32_t widest() const { return widest_; }
    double operations() const { return operations_; } // forwards, again, and back
    double states() const;                            // of all tables

  private:
    struct Side;
    SetLayers(const Side &side, const std::vector<std::int32_t> &order, bool all_wait);

    std::vector<SetLayer> layers_;
    std::vector<SetClosing> alone_;
    std::int32_t lines_ = 0, widest_ = 0;
    double operations_ = 0;
};

// The tables before some layers are kept on the way forwards; on the way back those between two of them are
// made again.
struct KeptTables {
    std::vector<std::int32_t> first;    // layers: of the stretches between kept tables; ascending, from 0
    std::int64_t kept = 0, between = 0; // doubles, with their margins
};

// Of all ways the one with the least memory, or all tables if they have no more than so many doubles.
KeptTables kept_tables(const SetLayers &layers, std::int64_t most_doubles);

std::int64_t doubles_of_table(std::int32_t lines); // with its margins

} // namespace libperm
