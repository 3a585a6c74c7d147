#include "lib/samples/boson/subset_runs.hpp"

#include <array>
#include <bit>
#include <vector>

namespace libperm {
namespace {

using Binomials = std::array<std::array<std::size_t, most_places + 1>, most_places + 1>;

constexpr Binomials places_taken = [] {
    Binomials table{};
    for (std::size_t n = 0; n <= most_places; ++n) {
        table[n][0] = 1;
        for (std::size_t k = 1; k <= n; ++k) table[n][k] = table[n - 1][k - 1] + table[n - 1][k];
    }
    return table;
}();

constexpr std::size_t low = low_places;

struct LowMoves {
    std::array<std::array<std::vector<LowMove>, low + 1>, low> of; // a place, so many taken before

    LowMoves() {
        std::array<std::uint8_t, 1 << low> number{};
        std::array<std::uint8_t, low + 1> count{};
        for (unsigned set = 0; set < number.size(); ++set)
            number[set] = count[static_cast<std::size_t>(std::popcount(set))]++;
        for (std::size_t place = 0; place < low; ++place)
            for (unsigned set = 0; set < number.size(); ++set)
                if ((set >> place & 1) == 0)
                    of[place][static_cast<std::size_t>(std::popcount(set))].push_back(
                        {number[set], number[set | 1u << place]});
    }
};

} // namespace

std::size_t subsets(int places, int taken) {
    return taken < 0 || places < 0 || taken > places
               ? 0
               : places_taken[static_cast<std::size_t>(places)][static_cast<std::size_t>(taken)];
}

std::span<const LowMove> low_moves(int places, int place, int taken) {
    static const LowMoves moves;
    if (taken < 0 || taken >= places) return {};
    const auto &all = moves.of[static_cast<std::size_t>(place)][static_cast<std::size_t>(taken)];
    return {all.data(), subsets(places - 1, taken)};
}

} // namespace libperm
