// Sums of products with each factor left out on a GPU, of one matrix or of many of a shape: those of
// LeftOutSums, task by task, with the same bits.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "jit/kernel/left_out.hpp"
#include "jit/lanes/line_sums.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/glynn/grid_matrix.hpp"
#include "lib/glynn/minors/left_out_sums.hpp"
#include "lib/run/call.hpp"

#include <span>
#include <vector>

namespace libperm {

struct Options;

// Whether a kernel can be made for them: of fewer lines a CPU is as quick.
bool device_takes(const LeftOutShape &shape);

// What a matrix takes once there is a kernel.
double left_out_seconds(const LeftOutShape &shape, const GpuProperties &gpu);

constexpr const char *left_out_work = "sums over signs"; // as logged

// Whether the GPU is named, or predicted to be done sooner than the CPU with `cpu_seconds` for all. Throws
// Error where it is named and there is none.
bool goes_to_gpu(const Options &options, const LeftOutShape &shape, std::int64_t count, double cpu_seconds);

class LeftOutOnDevice {
  public:
    // The shape is one that a device takes. `seconds`: of a matrix, as predicted; `room`: bytes on the device
    // at once, about, for what pieces come to.
    LeftOutOnDevice(DeviceQueue &queue, LeftOutShape shape, double seconds, std::size_t room = 128 << 20);

    std::size_t at_once() const { return at_once_; } // matrices, whole

    // The sums of these tasks of each, one matrix's behind the other's; the lines are fixed. Progress is in
    // seconds as predicted. Throws JitError.
    std::vector<LineSums> run(std::span<const GridMatrix> matrices, NumberRange tasks);

    std::int64_t peak_bytes() const;

  private:
    LeftOutKernel kernel(bool is_split) const;
    void bring_in(std::span<const GridMatrix> matrices, const LeftOutKernel &kernel);
    void launch(const LeftOutKernel &kernel, std::size_t matrices, NumberRange of_each);
    LineSums read_sums(const double *told, const LeftOutKernel &kernel) const;

    DeviceQueue &queue_;
    const LeftOutShape shape_;
    const double seconds_;
    std::uint64_t steps_, tasks_, per_task_; // of a piece; of all; pieces of a task
    std::size_t most_pieces_, at_once_;
    DeviceArray entries_, counts_, scratch_, pieces_, sums_;
};

} // namespace libperm
