// What a search has done, counted in about nanoseconds of one thread: never timed, so that its outcome does
// not depend on what the machine is doing.
#pragma once

#include "preprocess/poll.hpp"

namespace libperm {

class SearchWork {
  public:
    explicit SearchWork() : steps_() {}

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
