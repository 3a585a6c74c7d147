// Tapes against the definition: their states are the sets of columns that a perfect matching goes through,
// and what they run to is the permanent, in every arithmetic, for one matrix or for eight.
#include "bench/families.hpp"
#include "jit/lanes/tape_walk.hpp"
#include "lib/run/results.hpp"
#include "lib/tape/tape_steps.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/polled.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

using namespace libperm;
using namespace perm::families;
using oracle::Exact, oracle::GaussianMatrix;

namespace {

std::optional<Tape> make_tape(const Pattern &p, std::int64_t most_moves, std::uint64_t seed) {
    return libperm::make_tape(tape_program({p}, find_tape_order({p}, seed)), p, most_moves);
}

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr std::int64_t any_size = 1 << 20;

Tape tape_of(const Pattern &p, std::uint64_t seed = 0) {
    std::optional<Tape> tape = make_tape(p, any_size, seed);
    REQUIRE(tape);
    return *tape;
}

// Where an entry stands.
std::pair<std::size_t, std::size_t> place_of(const Pattern &p, std::int64_t entry) {
    std::int32_t i = 0;
    while (p.row_begin(i + 1) <= entry) ++i;
    return {at(i), at(p.col[at(entry)])};
}

// The lines in the order in which a tape goes along them.
std::vector<std::size_t> order_of(const Pattern &p, const Tape &tape) {
    std::vector<std::size_t> order;
    for (std::int32_t r = 1; r <= tape.n; ++r) {
        std::set<std::size_t> lines;
        for (std::uint32_t k = tape.first_move[tape.first_state[at(r)]];
             k < tape.first_move[tape.first_state[at(r) + 1]]; ++k) {
            const auto [i, j] = place_of(p, tape.moves[k].entry);
            CHECK(tape.row[tape.moves[k].entry] == i);
            lines.insert(tape.transposed ? j : i);
        }
        REQUIRE(lines.size() == 1);
        order.push_back(*lines.begin());
    }
    return order;
}

struct Sizes {
    std::vector<std::size_t> states, moves; // after each line, into it
    friend bool operator==(const Sizes &, const Sizes &) = default;
};

// By all sets: those that the first lines fill and the others complete.
Sizes sizes_by_sets(const Pattern &p, const std::vector<std::size_t> &order, bool transposed) {
    const std::size_t n = at(p.rows), sets = std::size_t{1} << n;
    std::vector<std::size_t> across(n, 0); // of each line, as bits
    for (std::int32_t i = 0; i < p.rows; ++i)
        for (const std::int32_t j : p.row(i))
            across[at(transposed ? j : i)] |= std::size_t{1} << (transposed ? i : j);
    std::vector<char> filled(sets, 0), completed(sets, 0);
    filled[0] = completed[sets - 1] = 1;
    const auto step = [&](std::size_t set, const auto &go) {
        for (std::size_t j = 0; j < n; ++j)
            if ((set >> j & 1) == 0 && (across[order[at(std::popcount(set))]] >> j & 1) != 0)
                go(set | std::size_t{1} << j);
    };
    for (std::size_t set = 0; set + 1 < sets; ++set)
        if (filled[set]) step(set, [&](std::size_t to) { filled[to] = 1; });
    for (std::size_t set = sets - 1; set-- > 0;)
        step(set, [&](std::size_t to) { completed[set] = completed[set] || completed[to]; });
    Sizes sizes{std::vector<std::size_t>(n, 0), std::vector<std::size_t>(n, 0)};
    for (std::size_t set = 0; set + 1 < sets; ++set)
        if (filled[set] && completed[set])
            step(set, [&](std::size_t to) { sizes.moves[at(std::popcount(set))] += completed[to] ? 1 : 0; });
    for (std::size_t set = 1; set < sets; ++set)
        if (filled[set] && completed[set]) ++sizes.states[at(std::popcount(set)) - 1];
    return sizes;
}

Sizes sizes_of(const Tape &tape) {
    Sizes sizes;
    for (std::int32_t r = 1; r <= tape.n; ++r) {
        const std::uint32_t begin = tape.first_state[at(r)], end = tape.first_state[at(r) + 1];
        sizes.states.push_back(end - begin);
        sizes.moves.push_back(tape.first_move[end] - tape.first_move[begin]);
    }
    return sizes;
}

void check_shape(const Tape &tape) {
    REQUIRE(tape.first_state.size() == at(tape.n) + 2);
    REQUIRE(tape.first_move.size() == at(tape.states()) + 1);
    REQUIRE(tape.first_move.back() == tape.moves.size());
    std::uint32_t most = 1;
    double roundings = 0;
    for (std::int32_t r = 1; r <= tape.n; ++r) {
        const std::uint32_t before = tape.first_state[at(r) - 1], begin = tape.first_state[at(r)],
                            end = tape.first_state[at(r) + 1];
        std::uint32_t longest = 0;
        std::set<std::pair<std::uint32_t, std::uint32_t>> moves;
        for (std::uint32_t s = begin; s < end; ++s) {
            CHECK(tape.first_move[s] < tape.first_move[s + 1]);
            longest = std::max(longest, tape.first_move[s + 1] - tape.first_move[s]);
            for (std::uint32_t k = tape.first_move[s]; k < tape.first_move[s + 1]; ++k) {
                CHECK(tape.moves[k].source < begin - before);
                CHECK(moves.insert({tape.moves[k].source, tape.moves[k].entry}).second);
            }
        }
        most = std::max(most, end - begin);
        roundings += longest;
    }
    CHECK(tape.most_states == most);
    CHECK(tape.roundings == roundings);
}

// ---- running -------------------------------------------------------------------------------------------

struct AlignedDelete {
    void operator()(double *p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using Doubles = std::unique_ptr<double[], AlignedDelete>;
Doubles doubles(std::size_t count) {
    Doubles all(static_cast<double *>(::operator new[](count * sizeof(double) + 8, std::align_val_t{64})));
    std::fill(all.get(), all.get() + count, std::nan("")); // what nothing was written to is not to be read
    return all;
}

using NumberParts = std::vector<double>; // of one number, then its magnitude

// Entries of a random matrix in some arithmetic, and the same as rational numbers.
struct Sample {
    std::vector<NumberParts> entries;
    GaussianMatrix exact, magnitudes;
};

Sample random_sample(const Pattern &p, Arithmetic arithmetic, bool integers, Random &random) {
    Sample numbers;
    numbers.exact.assign(at(p.rows), std::vector<Gaussian>(at(p.rows)));
    numbers.magnitudes = numbers.exact;
    for (std::int64_t k = 0; k < p.nnz(); ++k) {
        const auto [i, j] = place_of(p, k);
        NumberParts parts;
        double size = 0;
        for (int part = 0; part < (is_complex(arithmetic) ? 2 : 1); ++part) {
            const double x = integers ? random_entry(Entries::integers, random) : random.uniform(-1, 1);
            const double low = integers ? 0 : std::ldexp(random.uniform(-1, 1), std::ilogb(x) - 54);
            parts.push_back(x);
            if (is_dd(arithmetic)) parts.push_back(low);
            const Exact value = is_dd(arithmetic) ? Exact(Exact(x) + Exact(low)) : Exact(x);
            (part == 0 ? numbers.exact[i][j].re : numbers.exact[i][j].im) = value;
            size += std::fabs(x);
        }
        if (!integers) size = std::nextafter(size, 9);
        numbers.magnitudes[i][j].re = Exact(size);
        parts.push_back(size);
        numbers.entries.push_back(parts);
    }
    return numbers;
}

Doubles in_blocks(std::span<const Sample *const> matrices, TapeLayout layout) {
    const std::size_t nnz = matrices[0]->entries.size(), lanes = at(layout.lanes);
    Doubles entries = doubles(nnz * layout.block());
    for (std::size_t lane = 0; lane < lanes; ++lane)
        for (std::size_t k = 0; k < nnz; ++k)
            for (std::size_t part = 0; part < layout.block() / lanes; ++part)
                entries[k * layout.block() + part * lanes + lane] = matrices[lane]->entries[k][part];
    return entries;
}

std::vector<NumberParts> by_lane(const double *block, TapeLayout layout) {
    const std::size_t lanes = at(layout.lanes);
    std::vector<NumberParts> all(lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane)
        for (std::size_t part = 0; part < layout.block() / lanes; ++part)
            all[lane].push_back(block[part * lanes + lane]);
    return all;
}

std::vector<NumberParts> played(const Tape &tape, std::span<const Sample *const> matrices,
                                TapeLayout layout) {
    const Doubles entries = in_blocks(matrices, layout);
    const Doubles states = doubles(2 * tape.most_states * layout.block());
    const double *last = run_tape(tape, layout, entries.get(), states.get());
    REQUIRE(last);
    return by_lane(last, layout);
}

bool same_bits(const NumberParts &x, const NumberParts &y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
}

Gaussian value_of(const NumberParts &x, Arithmetic arithmetic) {
    const auto part = [&](std::size_t k) {
        return is_dd(arithmetic) ? Exact(Exact(x[2 * k]) + Exact(x[2 * k + 1])) : Exact(x[k]);
    };
    return {part(0), is_complex(arithmetic) ? part(1) : Exact(0)};
}

// Against the exact permanent, by what jit/number/arithmetic.hpp and a tape's roundings promise.
void check_value(const Tape &tape, const Sample &numbers, Arithmetic arithmetic, const NumberParts &parts) {
    const Gaussian truth = oracle::by_subsets(numbers.exact), value = value_of(parts, arithmetic);
    const Exact size = oracle::by_subsets(numbers.magnitudes).re;
    const double of_move = is_complex(arithmetic) ? 3 : is_dd(arithmetic) ? 2 : 1;
    const Exact bound =
        Exact(gamma_bound(of_move * (tape.roundings + 2), unit_of(arithmetic))) * size; // of |re| + |im|
    CHECK(abs(value.re - truth.re) + abs(value.im - truth.im) <= bound);
    CHECK(abs(Exact(parts.back()) - size) <= Exact(gamma_bound(tape.roundings)) * size);
}

constexpr Arithmetic arithmetics[] = {Arithmetic::real, Arithmetic::complex, Arithmetic::dd,
                                      Arithmetic::complex_dd};

} // namespace

TEST_CASE("states are the sets of columns that a perfect matching goes through") {
    Random random(run::seed(300));
    int with = 0, without = 0, along_columns = 0;
    for (int i = 0; i < run::cases(300); ++i) {
        const perm::Csr a = random_matrix(random.integer(1, 9), random);
        const Pattern p = pattern_of(a);
        const Tape tape = tape_of(p, random.bits());
        CHECK(tape.n == p.rows);
        CHECK(tape.nnz == p.nnz());
        perm::Csr ones = a;
        std::fill(ones.values.begin(), ones.values.end(), 1.0);
        if (oracle::by_ryser(ones) == 0) {
            ++without;
            CHECK(tape.moves.empty());
            CHECK(tape.states() == 1);
            const Doubles states = doubles(2);
            CHECK(run_tape(tape, {Arithmetic::real, false, 1}, nullptr, states.get()) == nullptr);
            continue;
        }
        ++with;
        along_columns += tape.transposed ? 1 : 0;
        check_shape(tape);
        const std::vector<std::size_t> order = order_of(p, tape);
        CHECK(std::set(order.begin(), order.end()).size() == order.size());
        CHECK(sizes_of(tape) == sizes_by_sets(p, order, tape.transposed));
    }
    CHECK(with > run::enough(50));
    CHECK(without > run::enough(5));
    CHECK(along_columns > 0);
    CHECK(along_columns < with);
}

TEST_CASE("no tape of more moves than allowed") {
    for (const std::int64_t n : {1, 2, 5, 9}) { // n 2^(n-1) of a full matrix
        const Pattern p = pattern_of(constant(n, 1));
        const std::int64_t moves = n << (n - 1);
        REQUIRE(make_tape(p, moves, 0));
        CHECK(make_tape(p, moves, 0)->moves.size() == at(moves));
        CHECK(!make_tape(p, moves - 1, 0));
        CHECK(!make_tape(p, 0, 0));
    }
    // As many open columns as a key has bits, and more.
    for (const std::int64_t n : {63, 64, 65}) {
        const perm::Csr a = with_row(build(n, n, [](auto i, auto j) { return i == j ? 1.0 : 0.0; }), 0,
                                     std::vector<double>(at(n), 1));
        const std::optional<Tape> tape = make_tape(pattern_of(a), any_size, 0);
        if (tape) CHECK(tape->moves.size() == at(n)); // only the diagonal is left
    }
    const PolledBy stop([] { throw std::runtime_error("stop"); });
    CHECK_THROWS_AS(make_tape(pattern_of(constant(5, 1)), any_size, 0), std::runtime_error);
}

TEST_CASE("of order 0, 1 and 2") {
    const Doubles states = doubles(16);
    Tape none; // no line at all: the product of nothing
    none.lists = {{}};
    none.first_state = {0, 1};
    none.first_move = {0, 0};
    const double *last = run_tape(none, {Arithmetic::real, false, 1}, nullptr, states.get());
    REQUIRE(last);
    CHECK(*last == 1);
    CHECK(tape_of(pattern_of(perm::Csr{1, 1, {0, 0}, {}, {}, false, {}})).moves.empty());

    const Tape one = tape_of(pattern_of(constant(1, 1)));
    CHECK(one.states() == 2);
    CHECK(one.moves.size() == 1);
    const Doubles entries = doubles(4);
    std::copy_n(std::vector<double>{2, 3, 5, 7}.begin(), 4, entries.get());
    CHECK(*run_tape(one, {Arithmetic::real, false, 1}, entries.get(), states.get()) == 2);
    const Tape two = tape_of(pattern_of(constant(2, 1)));
    CHECK(two.states() == 4);
    CHECK(two.moves.size() == 4);
    CHECK(*run_tape(two, {Arithmetic::real, false, 1}, entries.get(), states.get()) == 29);
}

TEST_CASE("every arithmetic, one matrix or eight: the same bits, near the exact permanent") {
    Random random(run::seed(301));
    for (int i = 0; i < run::cases(60); ++i) {
        const Pattern p = pattern_of(random_matrix(random.integer(1, 7), random));
        const Tape tape = tape_of(p, random.bits());
        if (tape.moves.empty()) continue;
        for (const Arithmetic arithmetic : arithmetics) {
            CAPTURE(arithmetic);
            std::vector<Sample> numbers;
            for (int k = 0; k < tape_lanes; ++k)
                numbers.push_back(random_sample(p, arithmetic, k % 3 == 0, random));
            std::vector<const Sample *> matrices;
            for (const Sample &x : numbers) matrices.push_back(&x);
            const TapeLayout wide{arithmetic, true, tape_lanes}, single{arithmetic, true, 1};
            const std::vector<NumberParts> eight = played(tape, matrices, wide);
            const std::vector<NumberParts> bare = played(tape, matrices, {arithmetic, false, tape_lanes});
            for (std::size_t k = 0; k < matrices.size(); ++k) {
                const std::span one(matrices.data() + k, 1);
                CHECK(same_bits(eight[k], played(tape, one, single)[0]));
                NumberParts without = eight[k];
                without.pop_back();
                CHECK(same_bits(bare[k], without));
                CHECK(same_bits(bare[k], played(tape, one, {arithmetic, false, 1})[0]));
                check_value(tape, *matrices[k], arithmetic, eight[k]);
                if (k % 3 == 0) // integers below 2^53
                    CHECK(value_of(eight[k], arithmetic) == oracle::by_subsets(matrices[k]->exact));
            }
        }
    }
}
