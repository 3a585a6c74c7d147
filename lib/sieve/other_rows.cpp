#include "lib/sieve/other_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace libperm {
namespace {

constexpr std::size_t all_signs = 256, most_octets = 16;

std::size_t octets_of(std::size_t told) { return (told + 7) / 8; }

} // namespace

OtherRows::OtherRows(const std::vector<std::uint64_t> &primes, std::size_t rows, std::size_t told,
                     const std::function<std::uint64_t(std::size_t, std::size_t, std::size_t)> &value)
    : fields_(primes.begin(), primes.end()), rows_(rows), octets_(octets_of(told)) {
    for (std::size_t matrix = 0; matrix < primes.size(); ++matrix)
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t first = 0; first < told; first += 8) {
                const Montgomery &field = fields_[matrix];
                std::array<std::uint64_t, all_signs> sums{};
                std::array<std::uint64_t, 8> entries{};
                for (std::size_t k = first; k < std::min(told, first + 8); ++k) {
                    entries[k - first] = value(matrix, row, k);
                    sums[0] = field.subtract(sums[0], entries[k - first]);
                }
                for (std::size_t signs = 1; signs < all_signs; ++signs) {
                    const std::uint64_t entry = entries[static_cast<std::size_t>(std::countr_zero(signs))];
                    sums[signs] = field.add(field.add(sums[signs & (signs - 1)], entry), entry);
                }
                sums_.insert(sums_.end(), sums.begin(), sums.end());
            }
}

std::size_t OtherRows::bytes(std::size_t matrices, std::size_t rows, std::size_t told) {
    return 8 * all_signs * matrices * rows * octets_of(told);
}

double OtherRows::seconds(double matrices, std::size_t rows, std::size_t told) {
    constexpr double sum = 4e-9, product = 8.5e-10, lookup = 6e-10;
    if (rows == 0) return 0;
    const double of_row = product + lookup * static_cast<double>(octets_of(told));
    return matrices * (sum + static_cast<double>(rows) * of_row);
}

void OtherRows::add_product(const std::uint32_t *told, std::size_t stride, bool subtracts,
                            std::int64_t *sums) const {
    std::array<std::uint8_t, most_octets> signs;
    for (std::size_t k = 0; k < octets_; ++k)
        signs[k] = static_cast<std::uint8_t>(told[k / 4 * stride] >> k % 4 * 8);
    const std::uint64_t *table = sums_.data();
    for (std::size_t matrix = 0; matrix < fields_.size(); ++matrix) {
        const Montgomery &field = fields_[matrix];
        std::uint64_t product = 0;
        for (std::size_t row = 0; row < rows_; ++row) {
            std::uint64_t sum = 0;
            for (std::size_t k = 0; k < octets_; ++k, table += all_signs)
                sum = field.add(sum, table[signs[k]]);
            product = row == 0 ? sum : field.multiply(product, sum);
        }
        const auto before = static_cast<std::uint64_t>(sums[matrix]);
        sums[matrix] = static_cast<std::int64_t>(subtracts ? field.subtract(before, product)
                                                           : field.add(before, product));
    }
}

} // namespace libperm
