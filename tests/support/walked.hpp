// What one launch of a kernel sums on the host, of which segments it is told.
#pragma once

#include "jit/kernel/subset_source.hpp"
#include "lib/subsets/plan.hpp"
#include "tests/support/host_queue.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

// The sums of segments launch.first = launch.base to launch.end - 1; or those of the threads, of equal
// chunks. `A`: the plan's arithmetic. The kernel is loaded.
template <class A>
std::vector<libperm::PartialOf<A>> walked(HostQueue &queue, const libperm::SubsetPlan &plan,
                                          const std::vector<double> &numbers, libperm::SubsetLaunch launch) {
    using namespace libperm;
    const SubsetKernel &kernel = plan.kernel;
    const auto threads = static_cast<unsigned>(
        kernel.engine == SubsetEngine::hybrid ? kernel.threads : std::min(kernel.threads, 3));
    const std::uint64_t chunks = (launch.end - launch.first + launch.length - 1) / launch.length;
    const auto blocks = static_cast<unsigned>((chunks + threads - 1) / threads);
    std::vector<PartialOf<A>> sums(kernel.equal_chunks ? std::uint64_t{blocks} * threads
                                                       : launch.end - launch.first);
    std::vector<double> parameters = parameters_of(kernel, numbers);
    DeviceArray values(queue), rows(queue), partials(queue);
    values.reserve(parameters.size() * sizeof(double));
    queue.copy_in(values.address(), parameters.data(), values.bytes());
    rows.reserve(static_cast<std::size_t>(global_rows(kernel)) * A::parts * blocks * threads *
                 sizeof(double));
    partials.reserve(sums.size() * sizeof sums.front());
    DeviceAddress from = values.address(), x = rows.address(), to = partials.address();
    void *const first =
        values_by_parameter(kernel) ? static_cast<void *>(parameters.data()) : static_cast<void *>(&from);
    const std::size_t shared = shared_bytes(kernel, static_cast<int>(threads));
    queue.allow_shared(gray_entry, shared);
    queue.launch(gray_entry, blocks, threads, std::array<void *, 4>{first, &launch, &x, &to}, shared);
    queue.copy_out(sums.data(), to, partials.bytes());
    CHECK(queue.is_whole());
    return sums;
}
