// Sums of products with each factor left out, in numbered pieces, on a CPU or on GPUs.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "jit/kernel/sign_sums.hpp"
#include "jit/lanes/grid_columns.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/glynn/grid_matrix.hpp"
#include "lib/glynn/minors/left_out_sums.hpp"
#include "lib/run/call.hpp"
#include "lib/run/task_parts.hpp"

#include <cstdint>
#include <functional>
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

// Sums with each factor left out, of one matrix or of many of a shape, in numbered pieces: of few matrices a
// piece is a task of one, of many it is some of them. Pieces follow from the shape and the number of matrices
// alone, so that threads, devices, shards and checkpoints share them, with the same bits.

// The devices that sums run on, none: the processor. What a matrix takes on one, and how many of the
// processor's threads there are beside.
struct LeftOutDevices {
    const DeviceQueues *queues = nullptr;
    double seconds = 0;
    int threads = 1;
};

class LeftOutPieces {
  public:
    // What they are of: reads matrix m into lines, which are fixed then; and tells of its sums, unless these
    // are of a shard. Any thread calls them.
    struct Matrices {
        std::function<void(std::int64_t m, GridMatrix &lines)> read;
        std::function<void(std::int64_t m, const GridMatrix &lines, LineSums sums)> tell;
    };

    // `seconds`: of a matrix on one thread, which follow from its shape.
    LeftOutPieces(LeftOutShape shape, std::int64_t count, double seconds);

    ShardCount shards() const;

    // Those that the call's store has are taken from it. Progress is in seconds as predicted, of a thread
    // or a device. Returns the bytes that devices took.
    std::int64_t run(const Matrices &matrices, const LeftOutDevices &where) const;

  private:
    class Round;
    class OnDevices;

    bool is_by_task() const { return matrices_of_piece_ == 0; }
    std::uint64_t count() const; // of pieces
    double piece_seconds(double of_matrix) const;

    const LeftOutShape shape_;
    const std::int64_t count_;
    const double seconds_;
    const NumberedPieces tasks_;          // of a matrix
    std::uint64_t matrices_of_piece_ = 0; // 0: a piece is a task
    std::uint64_t pieces_of_round_ = 1;   // whose sums are held at once
};

} // namespace libperm
