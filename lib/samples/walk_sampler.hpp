// Matchings by rejection, where no frontier fits: walks along the columns are accepted with the probability
// of their value (docs/estimates.md, "The bound that samples keep"), so that each matching comes through in
// proportion to its product.
#pragma once

#include "lib/input/options.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/pattern.hpp"
#include "preprocess/tracked.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace libperm {

// The matrix has a perfect matching, and entries above 0. Shot k is the k-th that comes through, whoever
// draws.
class WalkSampler {
  public:
    // Walks a little, to predict what `shots` will take. Throws Error (PERM_REFUSED_TIME) where that is
    // longer than `within` says, on its threads; the arena of `options` must be entered, and for what follows
    // too.
    WalkSampler(const Pattern &a, const std::vector<Tracked> &entries, std::int64_t shots, std::uint64_t seed,
                const Options &options, const Options &within, RunControl &control);
    WalkSampler(const WalkSampler &) = delete;
    WalkSampler &operator=(const WalkSampler &) = delete;
    ~WalkSampler();

    double seconds() const { return seconds_; } // that all take, as predicted; progress is a second

    // Walks until shots `first` to first + count - 1 are there, and forgets those before. After an error it
    // may be asked again. Throws Error (PERM_REFUSED_TIME) where too few walks come through.
    void reach(std::int64_t first, std::int64_t count);

    // Gives the column of each row of a shot that is there.
    const std::int32_t *columns_of(std::int64_t shot) const {
        return found_.data() + static_cast<std::size_t>((shot - first_) * rows_);
    }

  private:
    std::int64_t there() const { return static_cast<std::int64_t>(found_.size()) / rows_; }
    std::int64_t left() const { return shots_ - first_ - there(); }
    std::int64_t bytes_of(std::int64_t shots) const;
    double chunks_for(std::int64_t shots) const;
    void predict(const Options &within);
    void walk(std::uint64_t chunks);

    class Rejection;
    struct Draws;

    const std::int64_t rows_, shots_;
    const Options options_, within_; // its GPUs refer to them
    RunControl &control_;
    std::unique_ptr<const Rejection> rejection_;
    std::unique_ptr<Draws> draws_;
    double values_ = 0, chunks_ = 0; // so far: walks that come through on average, and chunks
    double seconds_ = 0;
    std::int64_t first_ = 0; // of those in found_
    Charge charge_;
    std::vector<std::int32_t> found_;
};

} // namespace libperm
