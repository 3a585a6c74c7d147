// The machine that a plan is made for: the one that its options tell of, or this one.
#pragma once

#include "jit/driver/gpu_properties.hpp"

#include <string>

namespace libperm {

struct Options;

// Of this machine the GPUs are looked for when a plan first asks: that takes some tenths of a second.
class PlanMachine {
  public:
    explicit PlanMachine(const Options &options) : options_(options) {}

    bool is_elsewhere() const;
    bool has_gpu() const;
    std::string why_no_gpu() const;
    // That plans reckon with: of the first GPU, or, where there is none, an H100's.
    GpuProperties gpu() const;
    int gpu_count() const; // that the options name, one at least

    // That an engine may take.
    double memory_limit(bool on_gpu) const;

  private:
    const Options &options_;
};

} // namespace libperm
