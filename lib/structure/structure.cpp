#include "lib/structure/structure.hpp"

#include <cstddef>

namespace libperm {

std::int64_t bytes_of(const Structure &x) {
    const Background &b = x.background;
    return static_cast<std::int64_t>(sizeof x) + bytes_of(b.beside) +
           4 * (4 * std::ssize(b.col_of_row) + std::ssize(x.nested) + 2 * std::ssize(x.low_rank.rows) +
                4 * std::ssize(x.separable.order.rows)) +
           std::ssize(x.integers);
}

} // namespace libperm
