#include "lib/subsets/launch.hpp"

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

} // namespace libperm
