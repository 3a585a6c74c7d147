#include "lib/sieve/rows.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <cstdlib>

namespace libperm {
namespace {

SieveFactor row_factor(const std::vector<SieveEntry> &row, bool is_halved) {
    SieveFactor factor;
    factor.shares = {1};
    if (is_other(row)) return factor;
    for (const SieveEntry &entry : row) {
        const auto more = at(std::abs(entry.value));
        factor.weight += std::abs(entry.value);
        std::vector<double> next(factor.shares.size() + more);
        for (std::size_t count = 0; count < factor.shares.size(); ++count) {
            next[count] += factor.shares[count] / 2;
            next[count + more] += factor.shares[count] / 2;
        }
        factor.shares = std::move(next);
    }
    if (is_halved && factor.weight % 2 == 1) {
        factor.scale = 2;
        factor.offset = factor.weight;
        return factor;
    }
    const auto &shares = factor.shares;
    const std::int32_t often =
        static_cast<std::int32_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
    factor.offset = is_halved ? factor.weight / 2 : often;
    if (const double share = shares[at(factor.offset)]; share > 0) {
        factor.vanishes = factor.offset;
        factor.stays = 1 - share;
    }
    return factor;
}

} // namespace

bool is_other(const std::vector<SieveEntry> &row) {
    std::int32_t weight = 0;
    for (const SieveEntry &entry : row) weight += std::abs(entry.value);
    return weight > most_row_weight;
}

SieveRows transposed(const SieveRows &rows) {
    SieveRows columns(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const SieveEntry &entry : rows[i])
            columns[at(entry.col)].push_back({static_cast<std::int32_t>(i), entry.value});
    return columns;
}

std::vector<SieveFactor> row_factors(const SieveRows &rows, bool is_halved) {
    std::vector<SieveFactor> factors;
    for (const std::vector<SieveEntry> &row : rows) factors.push_back(row_factor(row, is_halved));
    return factors;
}

} // namespace libperm
