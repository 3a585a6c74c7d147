// How long the parts of a call take.
#pragma once

#include <chrono>
#include <utility>

namespace capi {

class Stopwatch {
  public:
    double lap() { // seconds since the last lap
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace capi
