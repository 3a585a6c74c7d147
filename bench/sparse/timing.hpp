// How products on a GPU are timed: many after each other, beside cuSPARSE in the same way.
#pragma once

#include <algorithm>
#include <chrono>

namespace bench {

// Seconds of one of many, the best of three rows of them; of fewer, where a row would take long.
template <class Work, class Wait> double seconds_each(int runs, const Work &work, const Wait &wait) {
    using Clock = std::chrono::steady_clock;
    double best = 1e9;
    for (int k = 0; k < 4; ++k) { // the first warms up
        wait();
        const Clock::time_point begun = Clock::now();
        for (int r = 0; r < runs; ++r) work();
        wait();
        const double each = std::chrono::duration<double>(Clock::now() - begun).count() / runs;
        if (k > 0) best = std::min(best, each);
        runs = std::max(1, std::min(runs, static_cast<int>(0.05 / each)));
    }
    return best;
}

} // namespace bench
