// Subsets of so many of the first places, in colexicographic order: by their highest places first. Those of
// fewer places begin the list of those of more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace libperm {

constexpr int most_places = 64;

// C(places, taken), 0 where it makes no sense.
std::size_t subsets(int places, int taken);

// All moves by which one of the first places is taken: the subset's number before and behind, in order.
constexpr int low_places = 8;
struct LowMove {
    std::uint8_t from, to;
};
std::span<const LowMove> low_moves(int places, int place, int taken);

// All moves by which `place` is taken: run.apart(from, to, how many) where they follow each other in both
// lists, run.moves(from, to, moves) where these are counted from there.
template <class Run>
void move_runs(int places, int place, int taken, std::size_t from, std::size_t to, const Run &run) {
    if (place == places - 1) {
        if (const std::size_t count = subsets(place, taken); count > 0)
            run.apart(from, to + subsets(place, taken + 1), count);
        return;
    }
    if (places <= low_places) return run.moves(from, to, low_moves(places, place, taken));
    const int high = places - 1;
    if (taken < high) move_runs(high, place, taken, from, to, run);
    if (taken > 0)
        move_runs(high, place, taken - 1, from + subsets(high, taken), to + subsets(high, taken + 1), run);
}

} // namespace libperm
