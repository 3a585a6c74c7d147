// When a call is to stop, by its caller's callback or its time limit, and what its caller is told of its
// progress.
#pragma once

#include "capi/mpi/failure.hpp"

#include <perm.h>

#include <chrono>
#include <optional>

namespace libperm::mpi {

class Watch {
  public:
    explicit Watch(const perm_opts &opts) : opts_(opts) {}

    // Ten times a second at most; what it came to stands.
    const std::optional<Failure> &poll();

    double seconds() const;      // since the beginning
    double seconds_left() const; // of the time limit; infinity: it has none, and never 0

    void tell(double fraction); // as often as poll

    // A perm_cancel_fn; then what it was stands in poll().
    static int is_to_stop(void *watch) { return static_cast<Watch *>(watch)->poll().has_value(); }

  private:
    using Clock = std::chrono::steady_clock;

    const perm_opts opts_;
    const Clock::time_point start_ = Clock::now();
    Clock::time_point polled_{}, told_{};
    std::optional<Failure> stop_;
    double first_fraction_ = -1, first_seconds_ = 0, shown_ = 0;
};

} // namespace libperm::mpi
