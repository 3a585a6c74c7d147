#include "lib/subsets/launch.hpp"

#include <algorithm>

namespace libperm {

std::vector<SubsetLaunch> launch_parameters(std::uint64_t first, std::uint64_t end, std::uint64_t threads,
                                            std::uint64_t longest) {
    std::vector<SubsetLaunch> launches;
    for (std::uint64_t start = first; start < end;) {
        const std::uint64_t left = end - start;
        std::uint64_t length = 1;
        while (2 * length <= longest && 2 * length <= left / threads) length *= 2;
        const std::uint64_t taken = left / length < threads ? left : threads * length;
        launches.push_back({start, start + taken, length, first});
        start += taken;
    }
    return launches;
}

std::vector<SubsetLaunch> launches_in_waves(std::uint64_t first, std::uint64_t end, std::uint64_t threads,
                                            std::uint64_t most, std::uint64_t least) {
    std::vector<SubsetLaunch> launches;
    for (std::uint64_t start = first; start < end;) {
        const std::uint64_t taken = std::min(most, end - start), each = taken / threads;
        std::uint64_t length = 1;
        while (2 * length <= each && (length < least || 2 * length <= each / waves)) length *= 2;
        launches.push_back({start, start + taken, length, first});
        start += taken;
    }
    return launches;
}

} // namespace libperm
