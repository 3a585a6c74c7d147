#include "tests/support/random_matrix.hpp"

#include <cstddef>
#include <utility>

using namespace perm::families;

namespace {

perm::Csr random_pattern(std::int64_t n, Random &random) {
    const auto entries = static_cast<Entries>(random.integer(0, 4));
    const std::uint64_t seed = random.bits();
    switch (random.integer(0, 4)) {
    case 0:
        return erdos_renyi(n, random.uniform(0.2, 1), entries, seed);
    case 1:
        return banded(n, random.integer(0, 3), random.integer(0, 3), entries, seed);
    case 2:
        return arrow(n, entries, seed);
    case 3:
        return erdos_renyi(n, 1, entries, seed);
    default:
        return permutation_plus(n, random.integer(0, 3), entries, seed);
    }
}

// The entries of each row in another order: only the order of storage changes.
void shuffle_storage(perm::Csr &a, Random &random) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.n_rows); ++i)
        for (std::int64_t k = a.row_ptr[i + 1] - 1; k > a.row_ptr[i]; --k) {
            const auto from = static_cast<std::size_t>(k);
            const auto to = static_cast<std::size_t>(random.integer(a.row_ptr[i], k));
            std::swap(a.col_idx[from], a.col_idx[to]);
            std::swap(a.values[from], a.values[to]);
        }
}

} // namespace

perm::Csr random_matrix(std::int64_t n, Random &random) {
    perm::Csr a = random_pattern(n, random);
    a = permute(a, random.permutation(n), random.permutation(n));
    const auto size = static_cast<std::size_t>(n);
    if (n > 1 && random.chance(0.05))
        a = with_row(a, random.integer(0, n - 1), std::vector<double>(size, 0.0));
    if (n > 1 && random.chance(0.05)) { // two rows with one and the same column
        std::vector<double> row(size, 0.0);
        row[static_cast<std::size_t>(random.integer(0, n - 1))] = 2;
        a = with_row(with_row(a, 0, row), n - 1, row);
    }
    if (random.chance(0.2))
        for (double &value : a.values)
            if (random.chance(0.2)) value = 0; // stored all the same
    if (random.chance(0.5)) shuffle_storage(a, random);
    return a;
}
