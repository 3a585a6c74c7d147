// Steps of the sparse form on a device.
#pragma once

#include "jit/kernel/frontier.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/frontier/device_numbers.hpp"
#include "preprocess/frontier_steps.hpp"

#include <span>
#include <vector>

namespace libperm {

// A row of the sparse frontier as its kernels want it.
class SparseRowTables {
  public:
    SparseRowTables(DeviceQueue &queue, int words) : queue_(&queue), words_(words), memory_(queue) {}

    // `states` of them are to be expanded. The tables stay as they are until the next row's come. Of
    // residues: modulo `prime`.
    SparseRow copy_in(const FrontierStep &step, const std::vector<double> &coefficients, std::uint64_t states,
                      double prime);

    std::size_t bytes() const { return memory_.bytes(); }

  private:
    void add(const FrontierTerm &t);
    void close(std::uint64_t word, std::uint64_t mask, std::uint64_t full);

    DeviceQueue *queue_;
    int words_;
    DeviceArray memory_;
    std::vector<SparseTerm> terms_;
    std::vector<SparseClosing> closings_; // at most one for a word
    std::vector<SparseFloor> floors_;
    std::vector<unsigned char> all_;
};

SparseKernel sparse_kernel_of(const FrontierProgram &program, int words, const StateNumbers &numbers);

class SparseSteps {
  public:
    // Lists begin with `room` bytes, of those that `steps` may need. Its kernel is to be loaded.
    SparseSteps(DeviceQueue &queue, const SparseKernel &kernel, std::span<const FrontierStep> steps,
                double room);

    // What the steps go through; to be exchanged for another.
    DeviceList &list() { return old_; }
    void begin(); // with the empty state
    void run(std::span<const FrontierStep> steps, DeviceNumbers &numbers, Counts &counts);
    std::vector<double> first_number() const; // 0: there is none

  private:
    double advance(const FrontierStep &step, DeviceNumbers &numbers);
    void unite_candidates();
    std::size_t count(std::size_t most);
    void launch(unsigned step, unsigned end, std::size_t most);
    unsigned blocks_for(const char *entry, std::size_t pieces);

    DeviceQueue &queue_;
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
