// Algorithm 2 of the code-generation paper: chunks of a power of two, as long as all threads have one.
#pragma once

#include "jit/kernel/subsets.hpp"

#include <vector>

namespace libperm {

// GenerateLaunchParameters: the segments first .. end - 1 for so many threads. Each launch takes chunks of
// the greatest power of two, at most `longest`, of which there is one for every thread; what is left goes to
// the next. The last takes single segments (the paper's least chunk), and not all threads have one.
std::vector<SubsetLaunch> launch_parameters(std::uint64_t first, std::uint64_t end, std::uint64_t threads,
                                            std::uint64_t longest);

// The same segments for a kernel whose threads leave nothing behind: launches of at most `most` segments, in
// more chunks than there are threads at once, so that where a block ends early the next one begins. Chunks of
// a power of two, as short as `least` if that makes `waves` of them for each thread.
constexpr std::uint64_t waves = 32;
std::vector<SubsetLaunch> launches_in_waves(std::uint64_t first, std::uint64_t end, std::uint64_t threads,
                                            std::uint64_t most, std::uint64_t least);

} // namespace libperm
