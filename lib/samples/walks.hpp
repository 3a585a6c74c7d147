// Walks along the columns of a matrix, in numbered chunks that are always the same ones; each comes through
// with the probability of its value, so that those which do are matchings with their exact probabilities.
#pragma once

#include "lib/bounds/potential.hpp"
#include "lib/input/options.hpp"
#include "lib/run/run_control.hpp"
#include "lib/samples/sample_devices.hpp"
#include "lib/samples/sampler.hpp"
#include "preprocess/pattern.hpp"
#include "preprocess/tracked.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace libperm {

class Walks {
  public:
    static constexpr std::size_t chunk = Sampler::chunk_samples;

    // The matrix has a perfect matching, and entries above 0.
    Walks(const Pattern &a, const std::vector<Tracked> &entries, std::uint64_t seed, const Poll &poll);
    Walks(const Walks &) = delete;
    Walks &operator=(const Walks &) = delete;

    std::int64_t rows() const { return rows_; }
    double seconds_of_chunk() const { return Sampler::seconds_of_chunk(by_columns_); } // on one thread
    SamplesDrawn drawn_where(double chunks, const Options &options) const;

    // Of the walks of chunks those that come through, of each chunk the first `most`, by the column of each
    // row; and how many would on average. Progress is a chunk.
    void draw(std::uint64_t first, std::uint64_t most, SampleDevices *devices,
              std::span<std::vector<std::int32_t>> columns, std::span<double> sums,
              RunControl &control) const;

  private:
    double accept(std::uint64_t number, std::uint64_t most, std::span<const double> values,
                  std::vector<std::int32_t> &columns) const;

    std::int64_t rows_;
    std::uint64_t seed_;
    Potential by_columns_; // or of the transpose
    bool is_transposed_ = false;
    std::optional<Sampler> sampler_;
};

// How many walks came through on average, and of how many chunks.
struct WalkRate {
    double values = 0, chunks = 0;

    // How many chunks are expected to be wanted for so many shots, so that few are drawn in vain; what they
    // are does not matter.
    double chunks_for(std::int64_t shots) const;

    // Throws Error where so many shots are predicted to take longer than the options allow.
    void refuse_if_longer(std::int64_t shots, double seconds, const Options &options) const;
};

} // namespace libperm
