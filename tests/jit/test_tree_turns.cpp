// The walk of engine tree by itself: threads whose chunks are of one length take the same turns, so that
// those of a warp stay together, and each segment is summed over all its sets.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace {

// What the walk takes for granted, of doubles.
using u64 = unsigned long long;
using Number = double;
constexpr int n = 12, segment_bits = 5, unrolled = 2;
constexpr bool again = false;
constexpr double accurate_share = 1;

struct Arith {
    static constexpr bool bounded = true;
    static Number multiply(Number a, Number b) { return a * b; }
    static Number negate(Number a) { return -a; }
    static double magnitude(Number a) { return a < 0 ? -a : a; }
    static Number sum(Number to, Number term) { return to + term; }
};
struct Partial {
    Number sum;
    double absolute;
};
template <class A> Partial sum_of_nothing() { return {0, 0}; }
struct Launch {
    u64 first, end, length, base;
    const u64 *chosen;
};
u64 thread = 0;
u64 thread_index() { return thread; }
int lowest_bit(u64 i) { return std::countr_zero(i); }
int lowest_bit(unsigned i) { return std::countr_zero(i); }
bool comes_in(u64 i, int bit) { return (i >> bit >> 1 & 1) == 0; }
bool comes_in(unsigned i, int bit) { return (i >> bit >> 1 & 1) == 0; }

#include "tests/support/tree_walk.hpp"

// Notes the turns, and the sets of looped columns that are in when the others are summed.
struct Rows : Arith {
    std::string turns;
    std::set<u64> sets;
    u64 in = 0;

    void change(int column, double sign) {
        turns += 'c';
        if (column < 0) return;
        CHECK((in >> column & 1) == (sign < 0 ? 1 : 0));
        in ^= u64{1} << column;
    }
    void settle(int /*level*/) {}
    Number outer() const { return 1; }
    void inner(Number &sum, double &absolute) {
        turns += 'i';
        sets.insert(in);
        sum = absolute = 1;
    }
    static Number opposite(Number a) { return -a; }
};

} // namespace

TEST_CASE("threads with chunks of one length take the same turns") {
    const u64 segments = u64{1} << (n - 1 - segment_bits), per_segment = u64{1} << (segment_bits - unrolled);
    for (const u64 length : {1, 4, 16}) {
        std::set<std::string> turns;
        std::set<u64> sets;
        std::vector<Partial> partials(segments);
        for (thread = 0; thread < segments / length; ++thread) {
            Rows rows;
            walk_tree(rows, Launch{0, segments, length, 0, nullptr}, partials.data());
            CHECK(rows.sets.size() == length * per_segment);
            turns.insert(rows.turns);
            sets.insert(rows.sets.begin(), rows.sets.end());
        }
        CHECK(turns.size() == 1);
        CHECK(sets.size() == segments * per_segment);
        CHECK(std::all_of(partials.begin(), partials.end(),
                          [&](const Partial &p) { return p.absolute == static_cast<double>(per_segment); }));
    }
}
