// Samples of numbers from [0, 1] whose mean is perm(A) over a bound of it: on the processor, and on GPUs
// with the same bits.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/bounds/potential.hpp"
#include "lib/input/options.hpp"
#include "lib/run/call.hpp"
#include "lib/run/placement.hpp"
#include "lib/samples/part_shots.hpp"
#include "preprocess/numbers.hpp"
#include "preprocess/pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace libperm {

class Sampler {
  public:
    static constexpr std::size_t chunk_samples = 2048;

    explicit Sampler(const Potential &potential) : rows_(potential.n()), steps_(potential.steps()) {}

    // Chunk `number` of `chunk_samples` samples, always the same ones.
    void draw(std::uint64_t seed, std::uint64_t number, std::span<double> samples) const;

    // The way of one of them, which is not 0: the row that each step gave its column to.
    std::vector<std::int32_t> rows_of(std::uint64_t seed, std::uint64_t number, std::size_t sample) const;

    static double seconds_of_chunk(const Potential &potential);

  private:
    // Before the first step of the walks from `sample` on: which rows are left, and the random numbers.
    void begin(std::uint64_t seed, std::uint64_t sample, WalkLanes &walk, double *left) const;

    std::int32_t rows_;
    std::vector<WalkStep> steps_;
};

// On one.
class SamplerOnDevice {
  public:
    // Throws JitError, as all that follows does.
    SamplerOnDevice(DeviceQueue &queue, const Potential &potential);

    // Samples of `count` chunks from `first` on.
    void draw(std::uint64_t seed, std::uint64_t first, std::uint64_t count, std::span<double> samples);

    // Of each what tally_bets tells.
    void tally(std::uint64_t seed, std::uint64_t first, std::uint64_t count, std::span<const double> bets,
               std::span<double> told);

    // On a warm GPU, as predicted.
    static double seconds_of_chunk(const Potential &potential, const GpuProperties &gpu);

  private:
    void draw(std::uint64_t seed, std::uint64_t first, std::uint64_t count);

    DeviceQueue &queue_;
    std::uint32_t rows_, steps_;
    unsigned threads_;
    DeviceArray entries_, first_, samples_, bets_, told_;
};

// On those that draw a run's samples.
class SampleDevices {
  public:
    explicit SampleDevices(const Options &options);       // those that they name
    SampleDevices(DeviceQueues queues, bool is_required); // for tests

    // What SamplerOnDevice tells, each device taking a share of the chunks; progress is a chunk. False: they
    // cannot, and nothing was told; where a GPU was named, Error is thrown.
    bool draw(const Potential &potential, std::uint64_t seed, std::uint64_t first, std::span<double> samples);
    bool tally(const Potential &potential, std::uint64_t seed, std::uint64_t first,
               std::span<const double> bets, std::span<double> told);

  private:
    void open(const Potential &potential);
    template <class Take> bool share(const Potential &potential, std::uint64_t count, const Take &take);

    std::unique_ptr<GpuQueues> gpus_;
    DeviceQueues queues_;
    bool is_required_, has_failed_ = false;
    const Potential *of_ = nullptr; // whose samples they draw now
    std::vector<std::unique_ptr<SamplerOnDevice>> samplers_;
};

struct SamplesDrawn {
    std::unique_ptr<SampleDevices> devices; // none: the processor draws
    double seconds = 0;                     // as predicted
};

// Where samples are drawn that take `seconds` of one thread, or seconds_on() of one GPU once it has begun.
// Throws Error where a GPU is named and there is none.
SamplesDrawn choose_device(double seconds, const std::function<double(const GpuProperties &)> &seconds_on,
                           const Options &options);

// Matchings by rejection, where no frontier fits: walks along the columns are accepted with the probability
// of their value (docs/estimates.md, "The bound that samples keep"), so that each matching comes through in
// proportion to its product. Shot k is the k-th that comes through, whoever draws.

// What walks come to.
struct WalkPart {
    ShotPart shots;    // of those that come through the column of each row
    double values = 0; // how many would on average

    void add(const WalkPart &more);
};
template <class Archive> void fields(Archive &ar, WalkPart &part) {
    amounts(ar, part.values);
    fields(ar, part.shots);
    require_read<Archive>(std::ssize(part.shots.numbers) % part.shots.end == 0, "shots");
}

// How many walks came through on average, and of how many chunks.
struct WalkRate {
    double values = 0, chunks = 0;

    // How many chunks are expected to be wanted for so many shots, so that few are drawn in vain; what they
    // are does not matter.
    double chunks_for(std::int64_t shots) const;

    // Throws Error where so many shots are predicted to take longer than the options allow.
    void refuse_if_longer(std::int64_t shots, double seconds, const Options &options) const;
};

// Walks along the columns of a matrix, in numbered chunks that are always the same ones; each comes through
// with the probability of its value, so that those which do are matchings with their exact probabilities. How
// many shots are to be drawn, and what the first chunks tell of the others.
class WalkPlan {
  public:
    static constexpr std::size_t chunk = Sampler::chunk_samples;

    // The matrix has a perfect matching, and entries above 0. Throws Error (PERM_REFUSED_TIME) where `shots`
    // are predicted to take longer than `within` says, on its threads.
    WalkPlan(const Pattern &a, const std::vector<Tracked> &entries, std::int64_t shots, std::uint64_t seed,
             const Options &within)
        : WalkPlan(log_matrix(a, [&](std::size_t k) { return log_of(entries[k]); }), shots, seed, within) {}
    WalkPlan(const WalkPlan &) = delete;
    WalkPlan &operator=(const WalkPlan &) = delete;

    std::int64_t rows() const { return rows_; }
    std::int64_t shots() const { return shots_; }
    const WalkRate &rate() const { return rate_; }                    // of the first chunks
    const std::vector<std::int32_t> &found() const { return found_; } // what these came to
    std::uint64_t chunks() const { return chunks_; }                  // that are expected to be enough beside
    std::uint64_t pieces() const { return pieces_of(chunks_).count(); }
    double seconds_of_chunk() const { return Sampler::seconds_of_chunk(by_columns_); } // on one thread
    double serial_seconds() const { return static_cast<double>(chunks_) * seconds_of_chunk(); }
    double seconds() const { return seconds_; } // that all shots take, as predicted
    std::int64_t bytes() const { return static_cast<std::int64_t>(found_.size() * sizeof(std::int32_t)); }

    // 512 of them at least, and fewer than twice as many, where there are as many chunks.
    static NumberedPieces pieces_of(std::uint64_t chunks);

    SamplesDrawn drawn_where(double chunks, const Options &options) const;
    WalkPart nothing() const { return {{0, static_cast<std::int32_t>(rows_)}}; }
    // Of chunks from the first one on. Progress is a chunk.
    void draw(std::uint64_t first, SampleDevices *devices, std::span<WalkPart> parts) const;

  private:
    WalkPlan(const LogMatrix &a, std::int64_t shots, std::uint64_t seed, const Options &within);
    void accept(std::uint64_t number, std::span<const double> values, WalkPart &part) const;

    const std::int64_t rows_, shots_;
    const std::uint64_t seed_;
    Potential by_columns_; // or of the transpose
    bool is_transposed_ = false;
    std::optional<Sampler> sampler_;
    WalkRate rate_;
    std::vector<std::int32_t> found_;
    std::uint64_t chunks_ = 0;
    double seconds_ = 0;
};

class WalkSampler {
  public:
    // The arena of `options` must be entered for what follows. The plan and the call must outlive it.
    // Pieces that the scope's store has are taken from it, others left there.
    WalkSampler(const WalkPlan &plan, const Options &options, const PieceScope &scope = {});
    WalkSampler(const WalkSampler &) = delete;
    WalkSampler &operator=(const WalkSampler &) = delete;

    // Walks until shots `first` to first + count - 1 are there, and forgets those before; where the store
    // wants the pieces of one shard alone, these. After an error it may be asked again. Progress is a second
    // of one thread. Throws Error (PERM_REFUSED_TIME) where too few walks come through.
    void reach(std::int64_t first, std::int64_t count);

    // Gives the column of each row of a shot that is there.
    const std::int32_t *columns_of(std::int64_t shot) const {
        return found_.data() + static_cast<std::size_t>((shot - first_) * rows_);
    }

    // For so many shots: they are held as they are found, and all together.
    std::int64_t bytes_for(std::int64_t shots) const {
        return 2 * std::int64_t{sizeof(std::int32_t)} * rows_ * std::max(shots, there());
    }

  private:
    std::int64_t there() const { return static_cast<std::int64_t>(found_.size()) / rows_; }
    std::int64_t left() const { return plan_.shots() - first_ - there(); }
    void place(double chunks);
    void walk(std::uint64_t chunks);

    const WalkPlan &plan_;
    const std::int64_t rows_;
    const Options options_; // its GPUs refer to them
    PieceScope scope_;
    SamplesDrawn drawn_;
    double of_chunk_ = 0;    // seconds
    WalkRate rate_;          // so far
    double promised_;        // chunks, to the call
    std::int64_t first_ = 0; // of those in found_
    std::vector<std::int32_t> found_;
};

} // namespace libperm
