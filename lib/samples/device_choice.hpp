// Whether a GPU draws samples.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "lib/input/options.hpp"
#include "lib/samples/sample_devices.hpp"

#include <functional>
#include <memory>

namespace libperm {

struct SamplesDrawn {
    std::unique_ptr<SampleDevices> devices; // none: the processor draws
    double seconds = 0;                     // as predicted
};

// Samples that take `seconds` of one thread, or, once it is warm, seconds_on() of one GPU: by what is named,
// or predicted to be done sooner. Throws Error where a GPU is named and there is none.
SamplesDrawn choose_device(double seconds, const std::function<double(const GpuProperties &)> &seconds_on,
                           const Options &options);

} // namespace libperm
