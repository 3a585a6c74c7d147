#include "jit/lanes/bet_tally.hpp"

#include "jit/lanes/walk_value.hpp"

#include <array>

namespace libperm {

using walk_value::LongProduct, walk_value::long_product, walk_value::multiplied;

namespace {

// What all columns come to, halves joined by `join(x, y)`.
template <class T, class Join> T joined(std::array<T, tally_columns> &of_column, const Join &join) {
    for (std::size_t half = tally_columns / 2; half > 0; half /= 2)
        for (std::size_t c = 0; c < half; ++c) of_column[c] = join(of_column[c], of_column[c + half]);
    return of_column[0];
}

} // namespace

void tally_bets(std::span<const double> samples, std::span<const double> bets, double *told) {
    std::array<double, tally_columns> column{};
    double positive = 0;
    for (std::size_t k = 0; k < tally_samples; k += tally_columns)
        for (std::size_t c = 0; c < tally_columns; ++c) {
            column[c] += samples[k + c];
            positive += samples[k + c] > 0 ? 1 : 0;
        }
    *told++ = joined(column, [](double x, double y) { return x + y; });
    *told++ = positive;
    std::array<LongProduct, tally_columns> products; // NOLINT(*-member-init): each is written
    for (const double bet : bets) {
        column.fill(1);
        for (std::size_t k = 0; k < tally_samples; k += tally_columns)
            for (std::size_t c = 0; c < tally_columns; ++c) column[c] *= 1 + bet * samples[k + c];
        for (std::size_t c = 0; c < tally_columns; ++c) products[c] = long_product(column[c], 0);
        const LongProduct all = joined(products, multiplied);
        *told++ = all.mantissa;
        *told++ = static_cast<double>(all.exp2);
    }
}

} // namespace libperm
