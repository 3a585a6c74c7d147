// Samples of boson sampling (Clifford and Clifford, The classical complexity of boson sampling, SODA 2018,
// and Faster classical boson sampling, arXiv 2005.04214): photon by photon, each from the law that those
// before it leave, whose weights are made of all sub-permanents of one matrix (boson_shot.hpp). As a task:
// its pieces are runs of shots.
#pragma once

#include "lib/input/options.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/tasks.hpp"
#include "lib/samples/boson/boson_shot.hpp"

#include <perm.h>

#include <cstdint>
#include <string>
#include <vector>

namespace libperm {

// Throws Error where perm.h does not allow what is given, or so many shots.
const perm_boson &checked_photons(const perm_boson *a, std::int64_t shots);

// Comes to how many photons leave by each mode, shot by shot.
class BosonTask final : public TaskOf<std::vector<std::int64_t>> {
  public:
    // Nothing of `a` is kept; the options must outlive it. Throws Error.
    BosonTask(const perm_boson *a, std::int64_t shots, std::uint64_t seed, const Options &options);

    std::int64_t count() const { return shots_ * static_cast<std::int64_t>(amplitudes_.modes()); } // numbers

    // At once, into the caller's place, which has room for count().
    void draw(std::int64_t *occupations) const;

    TaskIdentity identity() const override;
    ShardCount shards() const override;
    KeptAbout about() const override;
    std::vector<std::int64_t> run(PieceStore *store, const Told &told) const override;

  private:
    NumberedPieces pieces() const;
    double seconds() const { return seconds_of_shot_ * static_cast<double>(shots_); } // on one thread
    std::int64_t most_bytes() const;
    void begin(double share) const; // throws Error

    const Options &options_;
    const std::vector<std::int64_t> modes_in_; // ascending, each once
    const Amplitudes amplitudes_;              // of these
    const std::vector<std::size_t> photons_;   // of each its column
    const std::int64_t shots_;
    const std::uint64_t seed_;
    double seconds_of_shot_ = 0;
};

} // namespace libperm
