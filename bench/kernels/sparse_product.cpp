#include "bench/kernels/sparse_product.hpp"

#include "bench/kernels/matrix_product.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

using namespace libperm;

std::size_t ceil_div(std::size_t n, std::size_t size) { return (n + size - 1) / size; }

} // namespace

SparseProduct::SparseProduct(DeviceQueue &queue)
    : queue_(&queue),
      threads_(queue.block_threads(product_threads)),
      sums_(queue),
      before_(queue),
      cuts_(queue),
      column_(queue),
      value_(queue),
      size_(queue),
      begin_(queue),
      end_(queue),
      shared_(queue),
      shared_column_(queue),
      shared_value_(queue),
      window_(queue),
      c_first_(queue),
      c_column_(queue),
      c_value_(queue) {
    queue.load(matrix_product_kernels());
}

DeviceMatrix SparseProduct::multiply(const DeviceMatrix &a, const DeviceMatrix &b) {
    if (b.columns >> 31 != 0)
        throw std::length_error("a product of sparse matrices has 2^31 columns or more");
    const std::size_t tile = std::size_t{threads_} * product_items;
    MatrixProduct p{};
    p.rows = a.rows;
    p.entries = a.entries;
    p.a_first = a.first;
    p.a_column = a.column;
    p.a_value = a.value;
    p.b_first = b.first;
    p.b_column = b.column;
    p.b_value = b.value;
    const std::array<void *, 1> arguments{&p};
    const auto launch = [&](const char *entry, std::size_t blocks) {
        queue_->launch(entry, static_cast<unsigned>(blocks), threads_, arguments);
    };
    const auto room = [](DeviceArray &array, std::size_t bytes) {
        array.reserve(bytes);
        return array.address();
    };
    const auto sum_at = [&](std::size_t k) {
        std::uint64_t sum = 0;
        queue_->copy_out(&sum, p.sums + 8 * k, 8);
        return sum;
    };
    const std::size_t entry_tiles = ceil_div(a.entries, tile), row_tiles = ceil_div(a.rows, tile);
    p.sums = room(sums_, 8 * (std::max(entry_tiles, row_tiles) + 1));
    p.before = room(before_, 4 * (std::size_t{a.entries} + 1));
    p.c_first = room(c_first_, 4 * (std::size_t{a.rows} + 1));
    products_ = 0;
    if (a.entries > 0) {
        launch(product_lengths_entry, entry_tiles);
        launch(product_places_entry, entry_tiles);
        products_ = sum_at(entry_tiles);
    }
    DeviceMatrix c{a.rows, b.columns, 0, p.c_first, 0, 0};
    if (products_ >= std::uint64_t{1} << 32)
        throw std::length_error("a product of sparse matrices is of 2^32 single products or more");
    if (products_ == 0) {
        const std::vector<std::uint32_t> none(std::size_t{a.rows} + 1, 0);
        queue_->copy_in(c.first, none.data(), 4 * none.size());
        return c;
    }
    const std::size_t tiles = ceil_div(products_, tile);
    p.products = static_cast<std::uint32_t>(products_);
    p.cuts = room(cuts_, sizeof(ProductCut) * (tiles + 1));
    p.column = room(column_, 4 * products_);
    p.value = room(value_, 8 * products_);
    p.size = room(size_, 4 * tiles);
    p.begin = room(begin_, 4 * std::size_t{a.rows});
    p.end = room(end_, 4 * std::size_t{a.rows});
    p.shared = room(shared_, 4 * std::size_t{a.rows});
    p.shared_column = room(shared_column_, 4 * products_);
    p.shared_value = room(shared_value_, 8 * products_);
    p.window = room(window_, sizeof(ProductWindow) * product_windows * tiles);
    launch(product_cuts_entry, tiles / threads_ + 1);
    launch(product_tiles_entry, tiles);
    launch(product_rows_entry, tiles);
    launch(product_sizes_entry, row_tiles);
    launch(product_firsts_entry, row_tiles);
    const std::uint64_t entries = sum_at(row_tiles);
    p.c_column = c.column = room(c_column_, 4 * entries);
    p.c_value = c.value = room(c_value_, 8 * entries);
    c.entries = static_cast<std::uint32_t>(entries);
    launch(product_write_entry, tiles);
    return c;
}

} // namespace bench
