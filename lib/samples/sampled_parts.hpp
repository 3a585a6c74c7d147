// The blocks of a matrix that its matchings are drawn in: what is taken in one has nothing to do with the
// others. A graph is one.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/run/call.hpp"
#include "preprocess/pattern.hpp"
#include "preprocess/tracked.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libperm {

struct SampledPart {
    static constexpr std::int32_t no_row = -1; // of what is no entry of the caller's
    static constexpr std::int64_t entry_bytes = sizeof(Tracked) + 3 * sizeof(std::int32_t);

    Pattern pattern;
    std::vector<Tracked> entries;          // each above 0
    std::vector<std::int32_t> row, column; // of each entry, in the caller's matrix
    std::int32_t free_rows = 0, free_columns = 0;
};

// Its shots by their numbers, each always the same.
class NumberedShots {
  public:
    NumberedShots() = default;
    NumberedShots(const NumberedShots &) = delete;
    NumberedShots &operator=(const NumberedShots &) = delete;
    virtual ~NumberedShots() = default;

    // Shots `first` to first + count - 1: of each the entries that were taken, in the order in which they
    // were, taken[k * count + shot]; of a graph these are fewer than lines, and behind them stands the number
    // of entries.
    virtual void draw(std::uint64_t first, std::uint32_t count, std::vector<std::uint32_t> &taken) const = 0;

    // One thread's of a shot, with its share of what is drawn together; 0: hardly any.
    virtual double shot_seconds() const { return 0; }
    virtual std::uint32_t at_once() const { return most_at_once; } // shots that are drawn together
    virtual std::int64_t bytes() const { return 0; }
    virtual std::string digest() const { return {}; } // of what else they follow from

    static constexpr std::uint32_t most_at_once = 1 << 10;
};

// `values` as read_values has them, in the pattern's order. Throws Error where they are no weights of
// matchings, or no matching has any.
std::vector<SampledPart> sampled_parts(const InputPattern &input, const Values &values);

} // namespace libperm
