// Matchings drawn backwards along a tape: from the last state, each move with the share that it has in its
// state. A state's value F is the sum over all ways to it, so that from state t the move by entry a from
// state s has the probability a F[s] / F[t], and a whole way the product of its entries over the permanent.
#pragma once

#include "jit/program/tape.hpp"
#include "preprocess/poll.hpp"
#include "preprocess/tracked.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

class TapeSampler {
  public:
    // The tape must outlive this. `entries`: of the tape, each above 0. Numbers have exponents of their own:
    // nothing underflows that matters.
    TapeSampler(const Tape &tape, const std::vector<Tracked> &entries, const Poll &poll = no_poll);

    // Shots `first` to first + count - 1 of a seed: of each, for each row of the tape the entry that was
    // taken, taken[row * count + shot]. All go back together, so that a row's moves are at hand for all of
    // them.
    void draw(std::uint64_t seed, std::uint64_t first, std::uint32_t count,
              std::vector<std::uint32_t> &taken) const;

    static std::int64_t bytes(const Tape &tape) { return static_cast<std::int64_t>(8 * tape.moves.size()); }

  private:
    const Tape &tape_;
    std::vector<double> up_to_; // of each move: the shares of its state's moves up to it; of the last one, 1
};

} // namespace libperm
