// What searches for orders share: what they are worth, their random numbers, and their work as it is
// counted.
#pragma once

#include "preprocess/limits.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace libperm {

// Counted in steps of search that are told in seconds of one thread, never timed: the same arguments give the
// same order whatever the machine is doing.
struct SearchBudget {
    // Times what another way takes: beyond that a longer search will not be enough.
    static constexpr double far = 8;
    static constexpr double of_short = 0.12; // of a run that takes less than it is worth to search
    static constexpr double of_start = 20;   // times a run that is shorter than its device's start

    double share = 0.02; // of the run that the order is for
    double least = 0.02; // seconds: nobody minds
    double effort = 1;   // for a rough idea of the cost less than 1
    double start = 0;    // seconds that the device takes to be opened and to compile, on some cores meanwhile
    double limit = 1e300;      // seconds of a run: what takes longer will be refused,
    double of_refused = 1e300; // which so many seconds of search are to find out

    // What may be spent in all while the best way that is known takes so long.
    double most(double best) const { return best > limit ? effort * of_refused : 1e300; }

    // What a run of so many seconds may be searched for.
    double of(double run) const {
        return effort *
               std::max({share * run, std::min(least, of_short * run), std::min(start, of_start * run)});
    }
};

// Whether two rounds of search more that gain as much as the last two will come up with another way. `costs`:
// of the best before each round, the last of them now.
inline bool comes_near(const std::vector<double> &costs, double other) {
    return costs.size() > 2 && costs.back() * costs.back() < other * *(costs.end() - 3);
}

// Random numbers of a search: the standard distributions differ between libraries, these do not.

class SearchRandom {
  public:
    explicit SearchRandom(std::uint64_t seed) : engine_(seed) {}
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
    std::int32_t below(std::int32_t n) { return static_cast<std::int32_t>(uniform() * n); }
    std::uint64_t bits() { return engine_(); }

  private:
    std::mt19937_64 engine_;
};

// What a search has done, counted in about nanoseconds of one thread: never timed, so that its outcome does
// not depend on what the machine is doing.

class SearchWork {
  public:
    void take(double nanoseconds) {
        done_ += nanoseconds;
        steps_.take(1 + static_cast<std::int64_t>(nanoseconds));
    }
    double seconds() const { return 1e-9 * done_; }

  private:
    double done_ = 0;
    PolledSteps steps_;
};

} // namespace libperm
