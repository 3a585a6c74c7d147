// Sums with each factor left out, of one matrix or of many of a shape, in numbered pieces: of few matrices a
// piece is a task of one, of many it is some of them. Pieces follow from the shape and the number of matrices
// alone, so that threads, devices, shards and checkpoints share them, with the same bits.
#pragma once

#include "jit/queue/device_queues.hpp"
#include "lib/glynn/minors/left_out_on_device.hpp"
#include "lib/run/call.hpp"
#include "lib/run/parts.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace libperm {

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
