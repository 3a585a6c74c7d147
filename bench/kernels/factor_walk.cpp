#include "bench/kernels/factor_walk.hpp"

#include "bench/kernels/device_code.hpp"
#include "jit/kernel/device_code.hpp"

namespace bench {

libperm::KernelRecipe factor_walk_kernels() {
    return kernels_of(std::string("// libperm: vectors through the rows of a cell.\n\n") +
                          libperm::number_cuh + "\n" + factor_walk_cuh,
                      {factor_walk_entry});
}

} // namespace bench
