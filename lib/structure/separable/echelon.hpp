// Lines of one side of the diagonal modulo a prime, reduced so that no two have their last entry at one
// place: those that still reach behind a place are independent there.
#pragma once

#include "lib/number/montgomery.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

class Echelon {
  public:
    static constexpr std::size_t nowhere = SIZE_MAX;

    explicit Echelon(std::uint64_t prime) : field_(prime) {}

    // Lines whose last entry is before this place are left out, and their kinds may be used again.
    void leave_out_before(std::size_t place);

    // Subtracts multiples of the lines, so that entries from place `from` on become 0 where they can; each
    // multiple is told: `told(kind, factor)`. The place of the last entry that is left, or nowhere.
    template <class Told>
    std::size_t reduce(std::vector<std::uint64_t> &line, std::size_t from, const Told &told) const {
        for (const Line &other : lines_) { // the one that reaches furthest comes first
            if (other.last < from) break;
            const std::uint64_t factor = field_.to(field_.multiply(line[other.last], other.inverse));
            if (factor == 0) continue;
            told(other.kind, field_.from(factor));
            for (std::size_t j = from; j <= other.last; ++j)
                line[j] = field_.subtract(line[j], field_.multiply(factor, other.values[j]));
        }
        for (std::size_t j = line.size(); j > from; --j)
            if (line[j - 1] != 0) return j - 1;
        return nowhere;
    }

    // Adds a line that has been reduced, of the first kind below `kinds` that is free; none: all are taken.
    std::optional<std::size_t> add(const std::vector<std::uint64_t> &line, std::size_t last,
                                   std::size_t kinds);

  private:
    struct Line {
        std::size_t kind = 0, last = 0;
        std::uint64_t inverse = 0; // of the last entry, in Montgomery's form
        std::vector<std::uint64_t> values;
    };

    Montgomery field_;
    std::vector<Line> lines_;
};

} // namespace libperm
