// Sums over signs of pairs of lines in vectors: the same bits in every instruction set, within their room,
// and pieces that add up. That they are hafnians: tests/lib/bjorklund.
#include "bench/families.hpp"
#include "jit/lanes/hafnian_sum.hpp"
#include "tests/support/run.hpp"
#include "tests/support/simd_targets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <hwy/aligned_allocator.h>
#include <hwy/targets.h>
#include <vector>

using namespace libperm;
using perm::families::Random;

namespace {

constexpr Arithmetic arithmetics[] = {Arithmetic::real, Arithmetic::complex, Arithmetic::dd,
                                      Arithmetic::complex_dd, Arithmetic::modular};
constexpr double prime = 140737488355213; // the largest below 2^47

struct Graph {
    HafnianLines view;
    std::vector<double> entries, errors;

    Graph(Arithmetic arithmetic, int pairs, bool has_loops, Random &random)
        : view{arithmetic, pairs, has_loops, nullptr, nullptr, prime} {
        const int edges = view.lines() * (view.lines() - 1) / 2, parts = parts_of(arithmetic);
        for (int k = 0; k < edges * parts; ++k) {
            const bool low = is_dd(arithmetic) && k % 2 == 1;
            entries.push_back(arithmetic == Arithmetic::modular
                                  ? std::floor(random.uniform(-0.5, 0.5) * prime)
                                  : random.uniform(-1, 1) * (low ? 0x1p-55 : 1));
        }
        for (int k = 0; k < edges; ++k) errors.push_back(random.chance(0.5) ? 0 : 0x1p-60);
        view.entries = entries.data();
        view.errors = errors.data();
    }
};

HafnianLanes lanes_of(const HafnianLines &view, int bits, std::uint64_t piece) {
    constexpr double untouched = 0x1.23456789abcdep77;
    const std::size_t doubles = hafnian_room(view);
    const auto room = hwy::AllocateAligned<double>(doubles + 8);
    std::fill_n(room.get(), doubles + 8, untouched);
    HafnianLanes lanes{};
    sum_over_pair_signs(view, bits, piece, room.get(), lanes);
    CHECK(
        std::all_of(room.get() + doubles, room.get() + doubles + 8, [](double x) { return x == untouched; }));
    return lanes;
}

// With the signs that lanes and pieces have.
double signed_sum(const HafnianLines &view, int bits, int part) {
    double sum = 0;
    for (std::uint64_t piece = 0; piece < std::uint64_t{1} << bits; ++piece) {
        const HafnianLanes lanes = lanes_of(view, bits, piece);
        for (int lane = 0; lane < HafnianLanes::lanes; ++lane) {
            const double x = lanes.parts[part][lane];
            sum += HafnianLanes::is_negative(lane) != (std::popcount(piece) % 2 == 1) ? -x : x;
        }
    }
    return sum;
}

} // namespace

TEST_CASE("the same bits in every instruction set") {
    Random random(run::seed(910));
    int compared = 0;
    for (const Arithmetic arithmetic : arithmetics)
        for (const bool loops : {false, true})
            for (int pairs = HafnianLines::least_pairs; pairs <= 10; ++pairs) {
                CAPTURE(arithmetic_name(arithmetic));
                CAPTURE(loops);
                CAPTURE(pairs);
                const Graph graph(arithmetic, pairs, loops, random);
                const int bits = static_cast<int>(random.integer(0, hafnian_sign_bits(pairs)));
                const auto piece = static_cast<std::uint64_t>(random.integer(0, (1 << bits) - 1));
                const HafnianLanes here = lanes_of(graph.view, bits, piece);
                for_each_target([&] {
                    const HafnianLanes there = lanes_of(graph.view, bits, piece);
                    CHECK(std::memcmp(&here, &there, sizeof here) == 0);
                    ++compared;
                });
            }
    CHECK(compared >= 100);
}

TEST_CASE("pieces of any number have the same sum") {
    Random random(run::seed(911));
    for (const bool loops : {false, true}) {
        constexpr int pairs = 9;
        const Graph residues(Arithmetic::modular, pairs, loops, random),
            reals(Arithmetic::real, pairs, loops, random);
        const double whole = signed_sum(residues.view, 0, 0), real = signed_sum(reals.view, 0, 0);
        CHECK(whole != 0);
        CHECK(real != 0);
        for (int bits = 1; bits <= hafnian_sign_bits(pairs); ++bits) {
            CAPTURE(bits);
            CHECK(std::fmod(signed_sum(residues.view, bits, 0) - whole, prime) == 0);
            CHECK(signed_sum(reals.view, bits, 0) == doctest::Approx(real).epsilon(1e-9));
        }
    }
}
