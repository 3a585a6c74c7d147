// A row of the sparse frontier as its kernels want it.
#pragma once

#include "jit/kernel/frontier_sparse.hpp"
#include "jit/queue/device_queue.hpp"
#include "preprocess/frontier_program.hpp"

#include <vector>

namespace libperm {

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

} // namespace libperm
