#include "lib/number/combinations.hpp"

#include "jit/kernel/frontier.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>

namespace libperm {

std::vector<std::uint32_t> combination_ranks(int high_slots) {
    constexpr int lower_bits = dense_chunk_bits;
    // C(p, k), and the rank of a set: sum of C(its k-th place, k), from 1.
    std::vector<std::vector<std::uint32_t>> binomial(at(dense_most_high) + 1);
    for (std::size_t p = 0; p < binomial.size(); ++p) {
        binomial[p].assign(binomial.size() + 1, 0);
        binomial[p][0] = 1;
        for (std::size_t k = 1; k <= p; ++k)
            binomial[p][k] = binomial[p - 1][k - 1] + (k < p ? binomial[p - 1][k] : 0);
    }
    const auto rank = [&](std::uint32_t set, int first_place, int used_below) {
        std::uint32_t sum = 0;
        auto k = at(used_below);
        for (; set != 0; set &= set - 1) sum += binomial[at(first_place + std::countr_zero(set))][++k];
        return sum;
    };
    std::vector<std::uint32_t> ranks;
    const std::uint32_t lower_sets = 1u << std::min(high_slots, lower_bits),
                        upper_sets = 1u << std::max(0, high_slots - lower_bits);
    for (std::uint32_t set = 0; set < lower_sets; ++set) ranks.push_back(rank(set, 0, 0));
    if (upper_sets == 1) return ranks;
    for (std::uint32_t set = 0; set < upper_sets; ++set)
        for (int used = 0; used <= lower_bits; ++used) ranks.push_back(rank(set, lower_bits, used));
    return ranks;
}

} // namespace libperm
