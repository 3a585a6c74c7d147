// The sums of gradients on a GPU, for one matrix or for many of a shape: jit/lanes/gradient_sum's, with the
// same bits.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "jit/kernel/gradient.hpp"
#include "jit/lanes/line_sums.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/minors/grid_lines.hpp"
#include "lib/run/run_control.hpp"

#include <span>
#include <vector>

namespace libperm {

struct Options;

// Whether a kernel can be made for them: of fewer lines a CPU is as quick.
bool device_takes_gradients(int rows, int columns, bool is_complex);

// Of a matrix, once there is a kernel.
double gradient_seconds(int rows, int columns, bool is_complex, const GpuProperties &gpu);

// Whether the GPU is named, or predicted to be done sooner than the CPU with `cpu_seconds` for all. Throws
// Error where it is named and there is none.
bool gradients_go_to_gpu(const Options &options, int rows, int columns, bool is_complex, std::int64_t count,
                         double cpu_seconds);

class GradientsOnDevice {
  public:
    // Of matrices with these kinds of rows and so many columns that count once. `seconds`: of a
    // matrix, as predicted; `room`: bytes on the device at once, about, for what pieces come to.
    GradientsOnDevice(DeviceQueue &queue, std::vector<int> row_count, int columns, bool is_complex,
                      double seconds, std::size_t room = 128 << 20);

    // Matrices that are run at once; and what one takes, as predicted.
    std::size_t at_once() const { return at_once_; }
    double seconds_of_matrix() const { return seconds_; }

    // The sums of each, in their order; the lines are fixed. Progress is in seconds as predicted. Throws
    // JitError.
    std::vector<LineSums> run(std::span<const GridLines> matrices, RunControl &control);

    std::int64_t peak_bytes() const;

  private:
    Arithmetic arithmetic(bool is_split) const;
    void bring_in(std::span<const GridLines> matrices, Arithmetic arithmetic);
    LineSums added_up(const double *tasks) const;

    DeviceQueue &queue_;
    const std::vector<int> row_count_;
    const int rows_, columns_;
    const bool is_complex_;
    const double seconds_;           // of a matrix
    std::uint64_t tasks_, per_task_; // pieces of a task
    std::size_t most_pieces_, at_once_;
    DeviceArray entries_, counts_, scratch_, pieces_, sums_;
};

} // namespace libperm
