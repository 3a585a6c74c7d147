// The threads that a call may use.
#pragma once

#include <functional>

namespace libperm {

// Runs `work` with at most this many threads for whatever it does in parallel.
void with_threads(int threads, const std::function<void()> &work);

} // namespace libperm
