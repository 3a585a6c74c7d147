#include "lib/number/fixed_point_block.hpp"

#include "lib/number/wide_value.hpp"
#include "preprocess/index.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/permanent_bound.hpp"
#include "preprocess/scaling.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace libperm {
namespace {

std::int64_t lowest_bit(const mpz_class &x) { // far above, if there is none
    return x == 0 ? std::numeric_limits<std::int32_t>::max()
                  : static_cast<std::int64_t>(mpz_scan1(x.get_mpz_t(), 0));
}

} // namespace

bool has_perfect_matching(const ExactBlock &block) { return has_perfect_matching(nonzero_pattern(block)); }

GridBlock on_grid(const ExactBlock &block, int bits) {
    GridBlock grid{bits, {}, {}, 0, 0, {}};
    Block size = magnitudes_of(block);
    const PowerScaling scaling = power_scaling(size); // equal lines stay equal
    for (const std::int64_t s : scaling.col) grid.exp2 -= s;
    // Entries are moved by E with |E| < 2^(1 - bits) each, and perm(|A| + s E) - perm(|A|) has a power of s
    // in each term: for t > 1 it is, for s = 1, at most perm(|A| + t E) / t. Here t E is below 1 / n^2.
    const int log2_more = -2 * std::bit_width(static_cast<std::uint32_t>(block.n()));
    bool moved = false;
    std::size_t k = 0;
    for (std::int32_t i = 0; i < block.n(); ++i) {
        const auto row = block.pattern.row(i);
        mpq_class re = 0, im = 0;
        for (std::size_t j = 0; j < row.size(); ++j) {
            re += abs(shifted(block.values[k + j].re, scaling.col[at(row[j])]));
            im += abs(shifted(block.values[k + j].im, scaling.col[at(row[j])]));
        }
        const std::int64_t top = std::max(exponent_of(re), exponent_of(im)); // no row is 0
        grid.exp2 += top;
        std::int64_t lowest = std::numeric_limits<std::int32_t>::max();
        for (const std::int32_t j : row) {
            const std::int64_t by = scaling.col[at(j)] - top;
            bool exact = true;
            const auto put = [&](const mpq_class &x, std::vector<mpz_class> &to) {
                const mpq_class y = shifted(x, by + bits);
                mpz_class cut = y.get_num() / y.get_den(); // towards 0: the sums do not grow
                exact = exact && cut * y.get_den() == y.get_num();
                lowest = std::min(lowest, lowest_bit(cut));
                to.push_back(std::move(cut));
            };
            put(block.values[k].re, grid.re);
            put(block.values[k].im, grid.im);
            size.values[k].exp2 += by;
            if (!exact) size.values[k] = size.values[k] + tracked(std::ldexp(1.0, log2_more));
            moved = moved || !exact;
            ++k;
        }
        grid.unit += lowest - bits - 1;
    }
    if (moved) {
        const PermanentBound bound = permanent_bound(size);
        grid.moved = make_scaled(bound.mantissa * (1 + 0x1p-20), bound.exp2 + 1 - bits - log2_more);
    }
    return grid;
}

} // namespace libperm
