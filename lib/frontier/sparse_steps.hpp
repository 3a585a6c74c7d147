// Steps of the sparse form on a device.
#pragma once

#include "lib/frontier/device_list.hpp"
#include "lib/frontier/device_numbers.hpp"
#include "lib/frontier/sparse_row.hpp"

#include <span>

namespace libperm {

SparseKernel sparse_kernel_of(const FrontierProgram &program, int words, const StateNumbers &numbers);

class SparseSteps {
  public:
    // Lists begin with `room` bytes, of those that `steps` may need. Its kernel is to be loaded.
    SparseSteps(DeviceQueue &queue, const SparseKernel &kernel, std::span<const FrontierStep> steps,
                RunControl &control, double room);

    // What the steps go through; to be exchanged for another.
    DeviceList &list() { return old_; }
    void begin(const DeviceNumbers &numbers); // with the empty state
    void run(std::span<const FrontierStep> steps, DeviceNumbers &numbers, Counts &counts);
    std::vector<double> first_number(const DeviceNumbers &numbers) const; // 0: there is none

  private:
    double advance(const FrontierStep &step, DeviceNumbers &numbers);
    void unite_candidates();
    std::size_t count(std::size_t most);
    void launch(unsigned step, unsigned end, std::size_t most);
    unsigned blocks_for(const char *entry, std::size_t pieces);

    DeviceQueue &queue_;
    RunControl &control_;
    SparseKernel kernel_;
    unsigned threads_, tile_;
    SparseRowTables tables_;
    DeviceChain chain_;
    DeviceArray begins_, report_;
    DeviceList old_, new_;
    SparseRow row_{};
    std::int64_t peak_bytes_ = 0;
};

} // namespace libperm
