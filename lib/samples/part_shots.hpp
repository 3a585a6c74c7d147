// Matchings drawn backwards along a tape: from the last state, each move with the share that it has in its
// state. A state's value F is the sum over all ways to it, so that from state t the move by entry a from
// state s has the probability a F[s] / F[t], and a whole way the product of its entries over the permanent.
// From a join's state the pair s, u has F[s] F[u] / F[t], and both go on, one waiting for the other.
#pragma once

#include "jit/program/tape.hpp"
#include "lib/input/options.hpp"
#include "lib/samples/sampled_parts.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

class TapeSampler final : public NumberedShots {
  public:
    // `entries`: of the tape, each above 0. Numbers have exponents of their own: nothing underflows that
    // matters.
    TapeSampler(Tape tape, const std::vector<Tracked> &entries, std::uint64_t seed);

    // All go back together, so that a list's moves are at hand for all of them.
    void draw(std::uint64_t first, std::uint32_t count, std::vector<std::uint32_t> &taken) const override;

    std::int64_t bytes() const override { return bytes_for(tape_); }
    static std::int64_t bytes_for(const Tape &tape); // with the tape itself
    std::string digest() const override;

  private:
    struct Number { // mantissa * 2^exp2
        double mantissa = 0;
        std::int64_t exp2 = 0;
    };
    using Numbers = std::vector<Number>;

    template <class Factor>
    Numbers sums_of(std::size_t list, const Numbers &before, PolledSteps &steps, const Factor &factor);
    std::uint32_t drawn(std::uint32_t first, std::uint32_t last, double x) const;

    const Tape tape_;
    const std::uint64_t seed_;
    std::vector<double> up_to_; // of each move: the shares of its state's moves up to it; of the last one, 1
};

// Matchings of a graph drawn line by line, from hafnians of what is left (lib/bjorklund): of full graphs, of
// which a tape is too long. The lowest line that is left takes the entry a_ij with the share of
// a_ij haf(the lines left without i and j) in the sum of these; all by doubles, whose proven bounds say that
// no choice is further from its share than `tolerance`.

class GraphShots final : public NumberedShots {
  public:
    static constexpr double tolerance = 1e-9;
    static constexpr std::int32_t most_lines = 64;

    // One thread's, of so many shots that are drawn together; infinite where there are too many lines.
    static double seconds(const SampledPart &part, std::int64_t shots);

    // The part must outlive this.
    GraphShots(const SampledPart &part, std::int64_t shots, std::uint64_t seed);

    // Those that are drawn together have their first choices in common. Throws Error (PERM_UNSUPPORTED) where
    // doubles lose too much.
    void draw(std::uint64_t first, std::uint32_t count, std::vector<std::uint32_t> &taken) const override;

    double shot_seconds() const override { return shot_seconds_; }

  private:
    using Lines = std::uint64_t; // those that are left
    struct Choices {
        std::vector<std::uint32_t> entries;
        std::vector<double> up_to; // sums of their weights
    };

    Choices choices(Lines left) const;
    Lines without(Lines left, std::uint32_t entry) const;

    const SampledPart &part_;
    const std::uint64_t seed_;
    std::vector<std::int32_t> line_; // the lower one of each entry
    double shot_seconds_;
};

} // namespace libperm
