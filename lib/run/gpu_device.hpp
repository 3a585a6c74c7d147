// The GPUs of this machine, and the machine that a plan is made for: the one that its options tell of, or
// this one.
#pragma once

#include "jit/driver/gpu.hpp"
#include "jit/driver/gpu_properties.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace libperm {

struct Options;

// The first of the machine, as far as it can be told without opening it: what it can do, or why there is none
// that kernels can be compiled for. Where it was opened in vain, why.
struct GpuSight {
    std::optional<GpuProperties> gpu;
    std::string why_not;
};
GpuSight first_gpu_in_sight();

// The first, opened, or null and why not. That is done once a process, and it is held until that ends: it
// takes some tenths of a second, which who comes meanwhile waits for.
struct GpuChoice {
    std::shared_ptr<const Gpu> gpu;
    std::string why_not;
};
GpuChoice first_gpu();
void open_first_gpu() noexcept;       // if it can be, for who will ask for it
std::shared_ptr<const Gpu> the_gpu(); // or JitError is thrown

// All that kernels can be compiled for; of those that cannot be opened a warning is logged.
std::vector<GpuProperties> gpus_here();

// Those that the options name, at least one, held until the process ends; of those that cannot be opened a
// warning is logged. Where they name none the first, which may still be being opened. Throws JitError, Error
// (PERM_BAD_OPTION) for a number that there is not.
std::vector<AwaitedGpu> gpus_of(const Options &options);
// Opens them, where there are any and the plan is for this machine, so that executing it need not.
void prepare_gpus(const Options &options);

// `work` with what the GPU's side throws as an Error.
void with_gpu_errors(const std::function<void()> &work);

// The machine that a plan is made for: the one that its options tell of, or this one.

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
