// Engine `frontier` on a device: the same tables, additions and bits as on the CPU.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "lib/frontier/dense_layout.hpp"
#include "lib/frontier/forms.hpp"
#include "preprocess/frontier_slices.hpp"

#include <vector>

namespace libperm {

// All of these throw Error and JitError.

// `whole`: what the run's program is a slice of, or itself; its kernels are used. Rows of so many states have
// larger cubes.
EngineResult run_dense_slice_on(DeviceQueue &queue, const FrontierRun &run, const FrontierProgram &whole,
                                double large = large_row);

// In these slices, or whole if there are none; each device takes one after the other. Where one has less
// memory left than was planned with, in smaller ones.
EngineResult run_dense_frontier_on(const DeviceQueues &devices, const FrontierRun &run,
                                   const std::vector<FrontierSlice> &slices);

// Why no device can run the dense form, or null.
const char *dense_device_why_not(const FrontierProgram &program);
double dense_device_bytes(const FrontierProgram &program, const StateNumbers &numbers);

// Lists of states that take turns begin with so many bytes each; a row that may need more is counted before
// it is made.
constexpr double sparse_device_room = 0x1p24;

EngineResult run_sparse_frontier_on(DeviceQueue &queue, const FrontierRun &run,
                                    double room = sparse_device_room);

// `key_words`: those of the arithmetic `real`, whatever the numbers.
double sparse_device_bytes(double peak_states, double peak_candidates, int key_words,
                           const StateNumbers &numbers);

// Of a program with branches: its large joins and steps, the rest on the CPU.
struct DeviceRooms {
    double steps = sparse_device_room; // bytes: of lists, to begin with
    double sums = 0x1p29;              // of a join at once, unless a row of them takes more
    // What is done there: what is large; for tests all that can be, or some of it.
    enum class Share { large, all, some } share = Share::large;
};
EngineResult run_branches_on(DeviceQueue &queue, const FrontierRun &run, const DeviceRooms &rooms = {});

} // namespace libperm
