#include "bench/kernels/row_product.hpp"

#include "bench/kernels/device_code.hpp"

namespace bench {

libperm::KernelRecipe row_product_kernels() {
    return kernels_of(row_product_cuh, {row_product_entry, row_residues_entry});
}

} // namespace bench
