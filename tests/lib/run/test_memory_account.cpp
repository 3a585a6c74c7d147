// The account of a call's memory: what is held is told before it is built, given back whatever happens, and
// told by every pass of the reductions.
#include "lib/base/error.hpp"
#include "lib/number/block_grids.hpp"
#include "lib/run/memory_budget.hpp"
#include "lib/run/piece_store.hpp"
#include "preprocess/decompose.hpp"
#include "tests/support/polled.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

using namespace libperm;

namespace {

constexpr std::int64_t free_bytes = MemoryBudget::unnoticed_bytes;

// Holds anything up to a limit, and remembers the most.
struct Ledger final : MemoryAccount {
    std::int64_t limit = std::int64_t{1} << 60, now = 0, most = 0;
    void hold(std::int64_t bytes) override {
        if (now + bytes > limit) throw Error(PERM_REFUSED_MEMORY, "no more");
        most = std::max(most, now += bytes);
    }
    void let_go(std::int64_t bytes) noexcept override { now -= bytes; }
};

template <class Value> Value number(std::int64_t x);
template <> Tracked number<Tracked>(std::int64_t x) { return tracked(static_cast<double>(x)); }
template <> Gaussian number<Gaussian>(std::int64_t x) { return {mpq_class(x), 0}; }

// n x n; entry (i, j) is 1 + i j mod 7, or always 1.
template <class Value> BlockOf<Value> dense(std::int32_t n, bool ones) {
    BlockOf<Value> block;
    block.pattern.rows = block.pattern.cols = n;
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = 0; j < n; ++j) {
            block.pattern.col.push_back(j);
            block.values.push_back(number<Value>(ones ? 1 : 1 + std::int64_t{i} * j % 7));
        }
        block.pattern.row_ptr.push_back(std::ssize(block.pattern.col));
    }
    return block;
}

// A chain of n entries beside the diagonal, so that everything is compressed.
template <class Value> BlockOf<Value> chain(std::int32_t n) {
    BlockOf<Value> block;
    block.pattern.rows = block.pattern.cols = n;
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
            block.pattern.col.push_back(j);
            block.values.push_back(number<Value>(3 + (i + j) % 5));
        }
        block.pattern.row_ptr.push_back(std::ssize(block.pattern.col));
    }
    return block;
}

template <class Value> void take_apart(BlockOf<Value> block, Ledger &ledger, int *polls = nullptr) {
    const PolledBy counted([polls] {
        if (polls) ++*polls;
    });
    DecompositionRule<Value> rule{Passes(), false, {}, &ledger};
    Decomposition<Value> decomposition(std::move(block), std::move(rule));
    for (StepOf<Value> step; decomposition.next(step);) {
    }
}

} // namespace

TEST_CASE("tables are counted from the first byte, what surrounds them beyond the first megabytes") {
    MemoryBudget budget(1000);
    budget.hold(free_bytes);
    CHECK(budget.peak() == 0);
    budget.take(600);
    budget.hold(400);
    CHECK(budget.peak() == 1000);
    CHECK_THROWS_AS(budget.hold(1), Error);
    CHECK_THROWS_AS(budget.take(1), Error);
    CHECK_THROWS_AS(budget.require(1, "this"), Error);
    budget.let_go(1); // what was refused is not held
    budget.take(1);
    budget.give_back(601);
    CHECK_NOTHROW(budget.require(600, "this"));
    CHECK(budget.peak() == 1000);
    CHECK_THROWS_AS(MemoryBudget(0).take(1), Error);
}

TEST_CASE("a charge is given back once, wherever it went") {
    Ledger ledger;
    {
        Charge charge(&ledger, 10);
        Charge other = std::move(charge);
        other.grow(5);
        CHECK(ledger.now == 15);
        other.resize(3);
        CHECK(ledger.now == 3);
        ledger.limit = 100;
        CHECK_THROWS_AS(other.grow(98), Error);
        CHECK(ledger.now == 3);
        Charge third;
        third = std::move(other);
        CHECK(third.bytes() == 3);
        std::vector<Charge> many;
        for (int k = 0; k < 10; ++k) many.emplace_back(&ledger, k);
        CHECK(ledger.now == 48);
    }
    CHECK(ledger.now == 0);
}

TEST_CASE("threads share an account") {
    MemoryBudget budget(std::int64_t{1} << 40);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&budget] {
            for (int k = 0; k < 10000; ++k) {
                const Charge charge(&budget, free_bytes);
                budget.take(7);
                budget.give_back(7);
            }
        });
    for (std::thread &t : threads) t.join();
    CHECK(budget.peak() >= 7);
    CHECK(budget.peak() <= 3 * free_bytes + 28);
    CHECK_NOTHROW(budget.require((std::int64_t{1} << 40) + free_bytes, "all of it"));
    CHECK_THROWS_AS(budget.require((std::int64_t{1} << 40) + free_bytes + 1, "more"), Error);
}

TEST_CASE_TEMPLATE("reductions hold what they have and what they make of it", Value, Tracked, Gaussian) {
    const std::vector<BlockOf<Value>> blocks{dense<Value>(60, true), dense<Value>(60, false),
                                             chain<Value>(500)};
    int compared = 0;
    for (const BlockOf<Value> &block : blocks) {
        Ledger ledger;
        int polls = 0;
        take_apart(block, ledger, &polls);
        CHECK(ledger.now == 0);
        CHECK(ledger.most >= 2 * bytes_of(block));
        // Wherever it is refused, all is given back.
        for (int k = 1; k <= 20; ++k, ++compared) {
            Ledger little;
            little.limit = ledger.most * k / 21;
            CHECK_THROWS_AS(take_apart(block, little), Error);
            CHECK(little.now == 0);
        }
    }
    CHECK(compared == 60);
}

TEST_CASE("exact numbers are counted with their digits") {
    Gaussian x{mpq_class(1), 0};
    const std::int64_t is_short = number_bytes(x);
    CHECK(is_short >= std::int64_t{sizeof x} + 3 * 16);
    mpz_class large;
    mpz_ui_pow_ui(large.get_mpz_t(), 2, 8000);
    x.re = mpq_class(large);
    CHECK(number_bytes(x) >= is_short + 900);
    ExactBlock block = dense<Gaussian>(3, true);
    const std::int64_t before = bytes_of(block);
    block.values[4] = x;
    CHECK(bytes_of(block) >= before + 900);
}

TEST_CASE("merging, and making integers, look up between entries") {
    constexpr std::int32_t n = 300;
    ExactBlock block = dense<Gaussian>(n, true);
    int polls = 0;
    std::optional<PolledBy> counted([&polls] { ++polls; });
    merge_repeated_lines(block);
    CHECK(polls >= 2 * n * n / (1 << 14)); // rows, then columns
    polls = 0;
    const IntegerBlock whole = integer_block(block);
    CHECK(polls >= n * n / (1 << 14));
    counted.reset();
    CHECK(permanent_bits(whole) > n);
    struct Stop {};
    const PolledBy stop([] { throw Stop(); });
    CHECK_THROWS_AS(merge_repeated_lines(block), Stop);
}

TEST_CASE("parts that are kept are told, and let go with the pieces of a block that is done") {
    Ledger ledger;
    ledger.limit = 200000;
    const std::string part(1000, 'x');
    {
        PieceStore store(&ledger);
        for (std::uint64_t k = 0; k < 100; ++k) store.keep({{}, 200, k, part});
        const std::int64_t held = ledger.now;
        CHECK(held >= 100 * 1000);
        store.put({{}, 200, 7, part}); // again
        CHECK(ledger.now == held);
        CHECK_THROWS_WITH_AS(for (std::uint64_t k = 100; k < 200; ++k) store.keep({{}, 200, k, part}),
                             "no more", Error);
        CHECK(store.find({}, 200, 99) == part);
        store.keep_block({}, part);
        CHECK(store.pieces().size() == 1);
        CHECK(ledger.now < 2000);
        CHECK(ledger.now >= 1000);
    }
    CHECK(ledger.now == 0);
}
