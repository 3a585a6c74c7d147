// What an estimate is to come to (perm_estimate_opts, checked), and the pieces that its samples are drawn
// in.
#pragma once

#include "lib/run/call.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <perm.h>
#include <span>
#include <vector>

namespace libperm {

enum class EstimateMethod { automatic, nesting, rejection, glynn };

struct EstimateRequest {
    double epsilon = 0.01, delta = 0.05;
    std::uint64_t seed = 0;
    EstimateMethod method = EstimateMethod::automatic;
    std::int64_t samples = 0; // at most; 0: no limit
};

// NULL means all defaults. Throws Error (PERM_BAD_ARGUMENT, PERM_BAD_OPTION).
EstimateRequest read_request(const perm_estimate_opts *opts);

// The samples of one block in pieces that anybody may sum up, in any order, with the same bits: chunks follow
// each other, so many in each piece, and a piece's sums are those of its chunks, added up one by one. There
// is no last piece.

class SampleDevices;

// What is to be known of samples, all of it adding up.
using SampleSums = std::vector<double>;
void add(SampleSums &all, const SampleSums &more);

// Of the chunks first, first + 1, ..., each one's into its place; by the devices, or, where there are none,
// on all threads. Progress is a chunk.
using SumChunks =
    std::function<void(std::uint64_t first, std::span<SampleSums> sums, SampleDevices *devices)>;

class SamplePieces {
  public:
    static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

    // expected: chunks that are enough, as far as one knows; limit: chunks at most; seconds: of one.
    SamplePieces(SumChunks sum, double expected, std::uint64_t limit, double seconds);

    std::uint64_t expected() const { return expected_; } // pieces, with some to spare
    std::uint64_t limit() const { return limit_; }       // pieces
    std::uint64_t chunks_before(std::uint64_t piece) const;
    double wanted_chunks() const { return wanted_; }      // expected to be enough
    double seconds() const { return wanted_ * seconds_; } // of these, on one thread
    double share_unknown(const PieceScope &scope) const;  // of the expected pieces, to this store

    // All of them from the first on, round by round, until take(those of the next round) says that they are
    // enough, or the limit is reached. Progress grows with what turns out to be needed.
    using Take = std::function<bool(std::span<const SampleSums>)>;
    void add_up(const Take &take, SampleDevices *devices) const;

    // Of `count` pieces; those that the call's store does not have are summed up, and kept there.
    std::vector<SampleSums> sums(std::uint64_t first, std::uint64_t count, SampleDevices *devices) const;

  private:
    std::uint64_t next_round(std::uint64_t done) const;

    SumChunks sum_;
    std::uint64_t chunks_ = 1; // in a piece
    std::uint64_t limit_chunks_, limit_, expected_;
    double wanted_;  // chunks, nothing to spare
    double seconds_; // of a chunk
};

} // namespace libperm
