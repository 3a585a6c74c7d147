// The blocks of a matrix that its matchings are drawn in: what is taken in one has nothing to do with the
// others. A graph is one.
#pragma once

#include "jit/program/tape.hpp"
#include "lib/base/archive.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/run/call.hpp"
#include "lib/run/numbered_sum.hpp"
#include "preprocess/numbers.hpp"
#include "preprocess/pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
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

// Shots as parts of a task: whole numbers of the same range, and how pieces are made of chunks of them.

struct ShotPart {
    std::int32_t least = 0, end = 0; // each number is one of least .. end - 1
    std::vector<std::int32_t> numbers{};
};

template <class Archive> void fields(Archive &ar, ShotPart &part) {
    ar(part.numbers);
    for (const std::int32_t x : part.numbers)
        require_read<Archive>(x >= part.least && x < part.end, "a shot's number");
}

constexpr std::uint64_t most_chunks_at_once = 4096; // of which each has its part

// compute() of parts_of_pieces (lib/run/pieces.hpp) where the pieces are made of chunks, which are numbered,
// too: of(k) tells those of piece k, draw(first, parts) what some come to that follow each other, and
// add(all, part) adds them up. Pieces that follow each other are kept together, of `at_once` chunks or so.
template <class Part, class Of, class Draw, class Add>
auto made_of_chunks(const Part &nothing, double at_once, const Of &of, const Draw &draw, const Add &add) {
    return [&, at_once](std::span<const std::uint64_t> todo, const auto &done) {
        for (std::size_t k = 0, end = 1; k < todo.size(); k = end++) {
            while (end < todo.size() && todo[end] == todo[end - 1] + 1 &&
                   NumberRange{of(todo[k]).first, of(todo[end]).last}.size() <= at_once)
                ++end;
            call().begin_piece();
            std::vector<Part> parts(end - k, nothing), chunks;
            const std::uint64_t last = of(todo[end - 1]).last;
            auto part = parts.begin();
            for (std::uint64_t chunk = of(todo[k]).first; chunk < last;) {
                chunks.assign(std::min(most_chunks_at_once, last - chunk), nothing);
                draw(chunk, std::span<Part>(chunks));
                for (const Part &one : chunks) {
                    if (chunk == of(todo[k] + static_cast<std::uint64_t>(part - parts.begin())).last) ++part;
                    add(*part, one);
                    ++chunk;
                }
            }
            for (std::size_t p = k; p < end; ++p) done(todo[p], std::move(parts[p - k]));
        }
    };
}

// Matchings drawn backwards along a tape: from the last state, each move with the share that it has in its
// state. A state's value F is the sum over all ways to it, so that from state t the move by entry a from
// state s has the probability a F[s] / F[t], and a whole way the product of its entries over the permanent.
// From a join's state the pair s, u has F[s] F[u] / F[t], and both go on, one waiting for the other.

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
