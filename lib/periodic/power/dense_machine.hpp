// Where full matrices are multiplied: on the processor or on a device, with the same bits.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "lib/periodic/power/dense_matrix.hpp"

#include <memory>
#include <vector>

namespace libperm {

// A matrix where its machine has it: `on_host` without planes if that is a device.
struct PlacedMatrix {
    DenseMatrix on_host;
    std::vector<DeviceArray> planes;
};

class DenseMachine {
  public:
    virtual ~DenseMachine() = default;
    virtual PlacedMatrix placed(DenseMatrix x) = 0;
    virtual PlacedMatrix times(const PlacedMatrix &a, const PlacedMatrix &b) = 0;
    virtual double largest(const PlacedMatrix &x) = 0;
    virtual void take_out(PlacedMatrix &x, int power) = 0;
    virtual DenseMatrix on_host(const PlacedMatrix &x) = 0; // x need not be kept
};

std::unique_ptr<DenseMachine> processor(RunControl &control);

// It takes doubles and complex ones, not dd. Throws JitError, and so do its calls.
std::unique_ptr<DenseMachine> dense_device(DeviceQueue &queue, RunControl &control);

} // namespace libperm
