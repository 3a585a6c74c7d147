// A sparse matrix in a GPU's memory, as our kernels and as cuSPARSE take it.
#pragma once

#include "bench/cusparse.hpp"
#include "bench/kernels/sparse_product.hpp"
#include "bench/sparse/matrices.hpp"
#include "bench/uploaded.hpp"

namespace bench {

struct OnDevice {
    libperm::DeviceArray first, column, value;
    std::uint32_t rows, columns, entries;

    OnDevice(libperm::DeviceQueue &queue, const Csr &a)
        : first(uploaded(queue, a.first)),
          column(uploaded(queue, a.column)),
          value(uploaded(queue, a.value)),
          rows(a.rows()),
          columns(a.columns),
          entries(a.first.back()) {}

    DeviceMatrix matrix() const {
        return {rows, columns, entries, first.address(), column.address(), value.address()};
    }
    DeviceCsr csr() const {
        return {rows, columns, entries, first.address(), column.address(), value.address()};
    }
};

} // namespace bench
