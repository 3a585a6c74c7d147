// Whether a GPU draws an estimate's samples.
#pragma once

#include "lib/estimates/estimate_plan.hpp"
#include "lib/estimates/sample_devices.hpp"
#include "lib/input/options.hpp"

#include <memory>

namespace libperm {

struct SamplesDrawn {
    std::unique_ptr<SampleDevices> devices; // none: the processor draws
    double seconds = 0;                     // as predicted
};

// `share` of the plan's samples, by what is named, or predicted to be done sooner. Throws Error where a GPU
// is named and there is none.
SamplesDrawn choose_device(const EstimatePlan &plan, double share, const Options &options);

} // namespace libperm
