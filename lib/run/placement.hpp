// Where work runs: on the processor's threads, or on the GPUs that the options name. What limits forbid, in
// words; and what follows where a GPU fails.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "lib/base/error.hpp"
#include "lib/input/machine.hpp"
#include "lib/input/options.hpp"

#include <exception>
#include <functional>
#include <string>

namespace libperm {

struct DeviceQueues;

struct Work {
    std::string what;                                            // "periodic: "
    double cpu_seconds = 0;                                      // on the threads that the options allow
    double gpu_start = 0;                                        // seconds before a GPU begins
    std::function<double(const GpuProperties &)> seconds_on_gpu; // on one, once it has begun
    double gpu_bytes = 0;
    bool is_shared = false; // among all GPUs that the options name
};

struct Placement {
    bool on_gpu = false;
    double seconds = 0; // as predicted
};

// By what is named, else where the work is predicted to be done sooner. A driver is looked for only if the
// processor takes longer than a GPU takes to begin. Throws Error where a GPU is named and there is none.
Placement place(const Work &work, const Options &options);

// Runs `on_gpu`, and where the GPU fails (it may have less memory left than it has): throws Error if a GPU is
// named; else logs a warning and returns false, and the processor is to do the work.
bool run_on_gpu(const std::string &what, const Options &options, const std::function<void()> &on_gpu);
bool run_on_gpu(const std::string &what, bool is_named, const std::function<void()> &on_gpu);

// Of one of several devices, or one `alone`: whether an error is its own, so that the others may go on
// without it, of which a warning is logged.
bool is_of_its_device(const std::exception_ptr &error, bool alone);

// Places the work and runs it, with the GPUs' queues or with null; once more with null where a GPU fails.
void run_placed(const Work &work, const Options &options,
                const std::function<void(const DeviceQueues *)> &run);

// "predicted to take 3 h on 8 threads, 1 h is the limit"; `where` may be empty.
std::string beyond_time_limit(double seconds, const Options &options, const std::string &where = {});
// "WHAT predicted to ...", and how to go on.
Error refused_for_time(const std::string &what, double seconds, const Options &options,
                       const std::string &advice = "raise the limit: time_limit_seconds");
// "WHAT; 8 GB is the limit", and how to go on.
Error refused_for_memory(const std::string &what, double limit, const std::string &advice);

} // namespace libperm
