// Joins of two lists, on every way, in all numbers: bit for bit the sums in the order that
// lib/frontier/sparse_join.hpp gives, one by one.
#include "bench/families.hpp"
#include "lib/base/threads.hpp"
#include "lib/frontier/sparse_join.hpp"
#include "tests/support/run.hpp"
#include "tests/support/simd_targets.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <map>

using namespace libperm;
using number::Complex, number::DD, number::Real;
using perm::families::Random;

namespace {

using Key = StateKey<2>;
using Slots = std::vector<std::int32_t>;

constexpr std::optional<JoinWay> ways[] = {JoinWay::rows, JoinWay::blocks, JoinWay::subsets, std::nullopt};

std::uint64_t test_seed() { return run::seed(0x6a6f696e); }

// States by their bits in the join's order; and where these stand in a list's keys.
struct Side {
    std::vector<Key> arranged; // ascending as the list's keys
    Slots slots;               // of each place
};
struct Case {
    FrontierJoin join;
    Side side[2];
};

Key key_of(const Key &arranged, const Slots &slots) {
    Key key;
    for (std::size_t place = 0; place < slots.size(); ++place)
        if (bits_of(arranged, static_cast<std::int32_t>(place), 1)) key = key | Key::slot(slots[place]);
    return key;
}

// Places of a side's keys: own ones ascend, shared ones are anywhere.
Slots random_slots(std::int32_t own, std::int32_t shared, bool far, Random &random) {
    Slots slots;
    for (const std::int64_t s : random.permutation(far ? 126 : own + shared))
        slots.push_back(static_cast<std::int32_t>(s));
    slots.resize(static_cast<std::size_t>(own + shared));
    std::sort(slots.begin(), slots.begin() + own);
    return slots;
}

std::vector<BitRun> runs_of(const Slots &slots) {
    std::vector<BitRun> runs;
    for (std::size_t place = 0; place < slots.size(); ++place)
        runs.push_back({slots[place], static_cast<std::int32_t>(place), 1});
    return runs;
}

// Sets of so many of the places, rows' counted where they are not in it; about so many of them.
std::vector<Key> random_sets(std::int32_t places, const Slots &rows, std::int32_t weight, std::size_t most,
                             Random &random) {
    std::map<Key, char> found;
    for (std::size_t trial = 0; trial < 3 * most && found.size() < most; ++trial) {
        Key key;
        const std::vector<std::int64_t> order = random.permutation(places);
        for (std::int32_t k = 0; k < weight; ++k)
            key = key | Key::slot(static_cast<std::int32_t>(order[static_cast<std::size_t>(k)]));
        for (const std::int32_t row : rows) key = key ^ Key::slot(row);
        found[key] = 1;
    }
    std::vector<Key> sets;
    for (const auto &[key, there] : found) sets.push_back(key);
    return sets;
}

Case random_case(std::int32_t most_own, std::int32_t most_shared, std::size_t most_states, Random &random) {
    Case c;
    const auto lines = [&](std::int32_t most) { return static_cast<std::int32_t>(random.integer(0, most)); };
    c.join.closing = lines(most_shared / 2);
    c.join.staying = lines(most_shared - most_shared / 2);
    const std::int32_t shared = c.join.closing + c.join.staying;
    std::vector<char> is_row;
    for (std::int32_t k = 0; k < shared; ++k) is_row.push_back(random.chance(0.5));
    const bool far = random.chance(0.5);
    for (std::size_t s = 0; s < 2; ++s) {
        const std::int32_t own = c.join.alone[s] = lines(most_own), all = own + shared;
        Slots &rows = c.join.rows[s];
        for (std::int32_t k = 0; k < all; ++k)
            if (k < own ? random.chance(0.5) : is_row[static_cast<std::size_t>(k - own)]) rows.push_back(k);
        Side &side = c.side[s];
        side.slots = random_slots(own, shared, far, random);
        c.join.runs[s] = runs_of(side.slots);
        const std::size_t most = std::min(most_states, std::size_t{1} << std::min(all, 20));
        const auto used = static_cast<std::int32_t>(random.integer(all / 3, (2 * all + 2) / 3));
        side.arranged = random_sets(all, rows, std::min(used, all), most, random);
        std::sort(side.arranged.begin(), side.arranged.end(),
                  [&](const Key &x, const Key &y) { return key_of(x, side.slots) < key_of(y, side.slots); });
    }
    c.join.products_bound = random.chance(0.3) ? 1e9 : 0x1p13; // many: by several threads
    return c;
}

// Random numbers of each kind, made of doubles.
void draw(NonNegative<Real<double>> &x, Random &random) {
    x = {random.chance(0.02) ? 0 : random.uniform(0, 2)};
}
void draw(NonNegative<DD<double>> &x, Random &random) {
    x.value = DD<double>::add({random.uniform(0, 2), 0}, {random.uniform(0, 0x1p-53), 0});
}
void draw(Signed<Real<double>> &x, Random &random) {
    x.value = random.chance(0.05) ? -0.0 : random.uniform(-2, 2);
    x.absolute = random.uniform(0.5, 2);
}
void draw(Signed<Complex<Real<double>>> &x, Random &random) {
    x.value = {random.uniform(-2, 2), random.uniform(-2, 2)};
    x.absolute = 3;
}
void draw(Signed<Complex<DD<double>>> &x, Random &random) {
    x.value = {{random.uniform(-2, 2), 0}, {random.uniform(-2, 2), random.uniform(-1, 1) * 0x1p-60}};
    x.absolute = 3;
}
template <std::size_t K> void draw(std::array<std::uint64_t, K> &x, Random &random) {
    for (std::uint64_t &word : x) word = random.bits() >> 3;
}
template <class N> void draw(Ranged<N> &x, Random &random) {
    N number;
    draw(number, random);
    x = Ranged<N>::normalised(number, random.integer(-3000, 3000));
}

template <class Number> using Numbers = std::vector<Number>;
template <class Number> struct Result {
    std::vector<Key> keys;
    Numbers<Number> numbers;

    bool same_bits(const Result &other) const {
        if (keys != other.keys) return false;
        return keys.empty() || std::memcmp(static_cast<const void *>(numbers.data()),
                                           static_cast<const void *>(other.numbers.data()),
                                           numbers.size() * sizeof(Number)) == 0;
    }
};

template <class Trait> class Joined {
    using Number = typename Trait::Number;

  public:
    Joined(const Case &c, const Trait &trait, Random &random) : case_(c), trait_(trait) {
        for (std::size_t s = 0; s < 2; ++s)
            for (std::size_t k = 0; k < c.side[s].arranged.size(); ++k) {
                numbers_[s].emplace_back();
                draw(numbers_[s].back(), random);
            }
    }

    // Pair by pair, in the order of the left side's patterns.
    Result<Number> one_by_one() const {
        const FrontierJoin &join = case_.join;
        const std::int32_t shared = join.closing + join.staying;
        struct Term {
            std::uint64_t pattern;
            std::size_t left, right;
        };
        std::map<Key, std::vector<Term>> terms;
        for (std::size_t l = 0; l < numbers_[0].size(); ++l)
            for (std::size_t r = 0; r < numbers_[1].size(); ++r) {
                const Key &x = case_.side[0].arranged[l], &y = case_.side[1].arranged[r];
                const std::uint64_t left = bits_of(x, join.alone[0], shared),
                                    right = bits_of(y, join.alone[1], shared);
                if ((left & right) != 0 ||
                    (left | right) >> join.staying != (std::uint64_t{1} << join.closing) - 1)
                    continue;
                Key to;
                const auto put = [&](const Key &from, std::int32_t first, std::int32_t count,
                                     std::int32_t place) {
                    for (std::int32_t k = 0; k < count; ++k)
                        if (bits_of(from, first + k, 1)) to = to | Key::slot(place + k);
                };
                put(y, 0, join.alone[1], 0);
                put(x, 0, join.alone[0], join.alone[1]);
                put(x, join.alone[0], join.staying, join.alone[0] + join.alone[1]);
                put(y, join.alone[1], join.staying, join.alone[0] + join.alone[1]);
                terms[to].push_back({left, l, r});
            }
        Result<Number> result;
        for (auto &[key, sum] : terms) {
            std::sort(sum.begin(), sum.end(),
                      [](const Term &x, const Term &y) { return x.pattern < y.pattern; });
            Number total = Trait::zero();
            for (const Term &t : sum)
                total = trait_.add(
                    total, trait_.multiply(trait_.factor_of(numbers_[1][t.right], 0), numbers_[0][t.left]));
            if (Trait::is_zero(total)) continue;
            result.keys.push_back(key);
            result.numbers.push_back(total);
        }
        return result;
    }

    Result<Number> by(std::optional<JoinWay> way, int threads, Counts &counts) const {
        MemoryBudget memory(std::int64_t{1} << 32);
        const FrontierProgram program;
        const FrontierWork work{program, memory, threads};
        SparseJoin<2, Trait> join(work, way);
        Result<Number> result;
        for (int time = 0; time < 2; ++time) { // the second in the room of the first
            Trait left_books = trait_;
            const Trait right_books = trait_;
            counts = {};
            StateList<2, Number> left = list(0, memory), right = list(1, memory);
            const StateList<2, Number> all =
                join.run(case_.join, std::move(left), left_books, std::move(right), right_books, counts);
            result = {};
            for (std::size_t k = 0; k < all.size; ++k) {
                result.keys.push_back(all.keys.data()[k]);
                result.numbers.push_back(all.numbers.data()[k]);
            }
        }
        return result;
    }

  private:
    StateList<2, Number> list(std::size_t s, MemoryBudget &memory) const {
        StateList<2, Number> states(memory);
        states.reserve(numbers_[s].size());
        states.size = numbers_[s].size();
        for (std::size_t k = 0; k < states.size; ++k) {
            states.keys.data()[k] = key_of(case_.side[s].arranged[k], case_.side[s].slots);
            states.numbers.data()[k] = numbers_[s][k];
        }
        return states;
    }

    const Case &case_;
    Trait trait_;
    Numbers<Number> numbers_[2];
};

template <class Trait> int compare(const Case &c, const Trait &trait, Random &random) {
    const Joined<Trait> joined(c, trait, random);
    const auto expected = joined.one_by_one();
    Counts first, counts;
    joined.by(JoinWay::rows, 1, first);
    for (const std::optional<JoinWay> way : ways) {
        CAPTURE(way ? static_cast<int>(*way) : -1);
        CHECK(joined.by(way, 1, counts).same_bits(expected));
        CHECK(counts.operations == first.operations);
    }
    const int threads = random.chance(0.5) ? 2 : 8;
    with_threads(threads, [&] {
        for (const std::optional<JoinWay> way : ways)
            CHECK(joined.by(way, threads, counts).same_bits(expected));
    });
    return !expected.keys.empty();
}

template <class N> BoundedNumbers<N> bounded(const Block &block) {
    return BoundedNumbers<N>{FrontierLedger(block)};
}

template <class Trait> int compare_some(const Trait &trait, int cases, std::uint64_t salt) {
    Random random(test_seed() + salt);
    int compared = 0;
    for (int trial = 0; trial < run::cases(cases); ++trial) {
        CAPTURE(trial);
        const bool wide = trial % 8 == 7; // states of more than a word, which no table holds
        const Case c = wide             ? random_case(40, 20, 60, random)
                       : trial % 2 == 0 ? random_case(4, 12, 1500, random)
                                        : random_case(7, 6, 1500, random);
        compared += compare(c, trait, random);
    }
    return compared;
}

const Block &no_entries() {
    static const Block block;
    return block;
}

} // namespace

TEST_CASE("joins: doubles, on every way the same bits") {
    CHECK(compare_some(bounded<NonNegative<Real<double>>>(no_entries()), 60, 1) > run::enough(30));
    CHECK(compare_some(bounded<Signed<Real<double>>>(no_entries()), 40, 2) > run::enough(20));
}

TEST_CASE("joins: complex and dd numbers, on every way the same bits") {
    CHECK(compare_some(bounded<Signed<Complex<Real<double>>>>(no_entries()), 24, 3) > run::enough(10));
    CHECK(compare_some(bounded<NonNegative<DD<double>>>(no_entries()), 24, 4) > run::enough(10));
    CHECK(compare_some(bounded<Signed<Complex<DD<double>>>>(no_entries()), 16, 5) > run::enough(6));
}

TEST_CASE("joins: residues, on every way the same bits") {
    const Pattern none;
    const Residues residues{none, {(std::uint64_t{1} << 62) - 57, (std::uint64_t{1} << 61) - 1}, {{}, {}}};
    CHECK(compare_some(ResidueNumbers<1>(residues, 0), 24, 6) > run::enough(10));
    CHECK(compare_some(ResidueNumbers<2>(residues, 0), 24, 7) > run::enough(10));
}

TEST_CASE("joins: numbers with exponents of their own, on every way the same bits") {
    using Trait = BoundedNumbers<Ranged<NonNegative<Real<double>>>>;
    CHECK(compare_some(Trait{FrontierLedger(no_entries(), true)}, 24, 8) > run::enough(10));
}

TEST_CASE("joins: the same bits with every instruction set") {
    for_each_target([] {
        CHECK(compare_some(bounded<NonNegative<Real<double>>>(no_entries()), 12, 9) > run::enough(5));
        CHECK(compare_some(bounded<Signed<Real<double>>>(no_entries()), 12, 10) > run::enough(5));
    });
}
