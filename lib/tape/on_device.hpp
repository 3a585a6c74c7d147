// A plan's tape on a GPU: one matrix of a batch in each block of threads.
#pragma once

#include "jit/kernel/tape.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/tape/tape_run.hpp"

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace libperm {

struct CacheSettings;

// Whether a GPU whose blocks can have so much shared memory has room for the entries; states may stand
// outside.
bool fits_device(const TapePlan &direct, bool dd, std::size_t shared_bytes);

// The values of some of many matrices, each as TapePlan::run takes them.
struct MatrixList {
    const double *first = nullptr; // of all
    std::int64_t apart = 0;        // in doubles
    std::span<const std::int64_t> which;

    std::size_t size() const { return which.size(); }
    const double *operator[](std::size_t k) const { return first + which[k] * apart; }
};

// The tape and room for matrices under way, there once and for all. While the threads bring in some matrices
// and take the answers of others, the device copies and computes between them.
class TapeOnDevice {
  public:
    // `stage_bytes`: of values that are brought in at once. Enough for all of a GPU, little to be waited for.
    TapeOnDevice(DeviceQueue &queue, const TapePlan &direct, bool dd, std::size_t stage_bytes = 4 << 20);

    // TapePlan::run: the same bits. done(k, answer) of each whose values are finite, by any thread.
    // `tell` may throw; then this is not to be used again.
    void run(MatrixList matrices, const std::function<void(std::size_t brought_in)> &tell,
             const std::function<void(std::size_t k, const TapeAnswer &answer)> &done);

  private:
    struct Stage { // of as many as are brought in at once
        HostArray<double> values, answers;
        DeviceArray device_values, device_answers, room;
        std::size_t first = 0, count = 0; // under way
    };
    static constexpr std::size_t stages = 3;

    Stage new_stage();
    bool bring_in(Stage &stage, MatrixList matrices) const;
    void launch(Stage &stage, bool is_signed);
    TapeForm form(bool magnitudes) const;
    void finish(Stage &stage, const std::function<void(std::size_t, const TapeAnswer &)> &done) const;

    DeviceQueue &queue_;
    const TapePlan &direct_;
    const Arithmetic arithmetic_;
    const std::size_t doubles_, answer_doubles_; // of a matrix
    const std::size_t room_;                     // matrices of a stage
    std::uint32_t states_ = 0;
    DeviceArray moves_, slice_, row_, line_;
    std::array<bool, 2> loaded_{}; // the kernels without and with magnitudes
    std::vector<Stage> stages_;
};

// Those on the first GPU that a plan's batches have run on, kept for the next: as many as ran at the same
// time.
class IdleTapes {
  public:
    IdleTapes();
    ~IdleTapes();
    void run(const TapePlan &direct, bool dd, const CacheSettings &cache, MatrixList matrices,
             const std::function<void(std::size_t brought_in)> &tell,
             const std::function<void(std::size_t k, const TapeAnswer &answer)> &done) const;

  private:
    struct OnGpu;
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<OnGpu>> idle_;
};

} // namespace libperm
