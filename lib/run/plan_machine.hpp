// The machine that a plan is made for: the one that its options tell of, or this one.
#pragma once

#include "lib/run/gpu_device.hpp"

#include <optional>
#include <string>

namespace libperm {

class Call;
struct Options;

// Of this machine the first GPU is looked at when a plan first asks. With a call that may use it (it may be
// null) it is then opened beside: that takes some tenths of a second.
class PlanMachine {
  public:
    explicit PlanMachine(const Options &options, Call *call = nullptr) : options_(options), call_(call) {}

    bool is_elsewhere() const;
    bool has_gpu() const;
    std::string why_no_gpu() const;
    // Plans reckon with these properties: the first GPU's, or, where there is none, an H100's.
    GpuProperties gpu() const;
    int gpu_count() const; // that the options name, one at least

    bool saw_gpu() const { return sight_ && sight_->gpu; } // a plan asked for it, and there is one
    // A block that no order was kept of will hardly have kernels: where there is a GPU for it, NVRTC is begun
    // beside.
    void looked_up_order(bool was_kept) const;

    // An engine may take so many bytes.
    double memory_limit(bool on_gpu) const;

  private:
    const GpuSight &sight() const;

    const Options &options_;
    Call *call_;
    mutable std::optional<GpuSight> sight_; // the same for the whole of a block's plan
    mutable bool has_kept_order_ = false;
};

} // namespace libperm
