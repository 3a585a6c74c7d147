// Samples of matchings: each with the probability that its product has in the sum over all (perm_sample).
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/pattern.hpp"
#include "preprocess/tracked.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace libperm {

// A block of the matrix: what no other block's choice has to do with.
struct SampledPart {
    Pattern pattern;
    std::vector<Tracked> entries;
    std::vector<std::int32_t> row, column; // of each entry, in the caller's matrix; -1: it is none there
    std::int32_t free_rows = 0, free_columns = 0;
};

class PartSampler;

class MatchingSamples {
  public:
    // Of the options threads, limits and seed (of the order search) count. `values` as read_values has them,
    // in the pattern's order, which says too what the caller gave. How they are drawn depends on `shots`, so
    // that is how many there will be in all. `control` must outlive this. Throws Error, as what follows does.
    MatchingSamples(const InputPattern &input, const Values &values, std::int64_t shots, std::uint64_t seed,
                    const Options &options, RunControl &control);
    MatchingSamples(const MatchingSamples &) = delete;
    MatchingSamples &operator=(const MatchingSamples &) = delete;
    ~MatchingSamples();

    // The next `count`, whatever was drawn at once before; after an error these again.
    void draw(std::int64_t count, std::int64_t *columns);

    std::int64_t left() const { return shots_ - drawn_; }
    std::int32_t rows() const { return rows_; } // of the caller's

  private:
    void draw_piece(std::int64_t first, std::uint32_t count, std::int64_t *columns) const;

    const std::int64_t shots_;
    std::int64_t drawn_ = 0;
    const std::int32_t rows_;
    const int threads_;
    double shot_seconds_ = 0; // of a shot that was reached
    RunControl &control_;
    Charge charge_; // of the parts
    std::vector<SampledPart> parts_;
    std::vector<std::unique_ptr<PartSampler>> samplers_; // of each part
};

} // namespace libperm
