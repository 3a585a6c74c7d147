// A plan's tape on a GPU: one matrix of a batch in each block of threads.
#pragma once

#include "jit/device_queue.hpp"
#include "lib/direct.hpp"

#include <functional>

namespace libperm {

// Whether a GPU whose blocks can have so much shared memory holds the states.
bool fits_device(const Direct &direct, std::size_t shared_bytes);

// Direct::run in doubles for many matrices: the same bits. done(k, answer) of each whose values are finite,
// by any thread. `poll` may throw.
void run_on(DeviceQueue &queue, const Direct &direct, std::span<const void *const> matrices,
            const std::function<void(std::size_t)> &poll,
            const std::function<void(std::size_t k, const DirectAnswer &answer)> &done);

} // namespace libperm
