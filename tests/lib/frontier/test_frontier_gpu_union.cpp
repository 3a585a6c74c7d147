// Unions of sorted lists on a device, their kernel played on the host: what balanced paths have to get right.
#include "bench/families.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/frontier.hpp"
#include "jit/queue/device_queue.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <vector>

using namespace libperm;
namespace families = perm::families;

namespace {

std::uint64_t test_seed() { return run::seed(0x756e696f); }
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

using Numbers = std::map<std::uint64_t, double>; // a list

// Lists that follow each other in a device's memory, united in pairs until one is left.
class Union {
  public:
    Union(HostQueue &queue, int words) : queue_(queue), words_(words) {
        queue.load(sparse_frontier_kernels({words, true, false}));
    }

    // Key k is the number k times 2^64 when words > 1: what decides stands in the last word but one.
    Numbers of(const std::vector<Numbers> &lists) {
        std::vector<std::uint64_t> keys, begins{0};
        std::vector<double> numbers;
        for (const Numbers &list : lists) {
            for (const auto &[key, number] : list) {
                keys.resize(keys.size() + at(words_), 0);
                keys[keys.size() - (words_ > 1 ? 2 : 1)] = key;
                numbers.push_back(number);
            }
            begins.push_back(numbers.size());
        }
        begins.resize(2 * begins.size() + 130, 0);
        DeviceArray keys_from(queue_), numbers_from(queue_), keys_to(queue_), numbers_to(queue_);
        for (DeviceArray *x : {&keys_from, &keys_to}) x->reserve(8 * keys.size() + 8);
        for (DeviceArray *x : {&numbers_from, &numbers_to}) x->reserve(8 * numbers.size() + 8);
        DeviceArray places(queue_), report(queue_), words(queue_);
        SparseReport result{};
        const std::vector<std::uint64_t> zeros(1000, 0);
        places.reserve(8 * begins.size());
        report.reserve(sizeof result);
        words.reserve(8 * zeros.size());
        queue_.copy_in(keys_from.address(), keys.data(), 8 * keys.size());
        queue_.copy_in(numbers_from.address(), numbers.data(), 8 * numbers.size());
        queue_.copy_in(places.address(), begins.data(), 8 * begins.size());
        queue_.copy_in(report.address(), &result, sizeof result);
        queue_.copy_in(words.address(), zeros.data(), 8 * zeros.size());

        unsigned step = 1, steps = 1 + static_cast<unsigned>(std::bit_width(lists.size() - 1));
        SparseRow row{1, lists.size(), 0, 0, 0, 0, 0, 0, 0, 0};
        SparseList from{keys_from.address(), numbers_from.address()},
            to{keys_to.address(), numbers_to.address()};
        DeviceAddress begins_at = places.address(), report_at = report.address();
        TileChain chain{1, words.address(), words.address() + 8, words.address() + 16};
        const std::array<void *, 9> arguments{&row,   &to,   &from,  &begins_at, &report_at,
                                              &chain, &step, &steps, &steps};
        queue_.launch(sparse_row_entry, 2, threads(), arguments, 0);

        queue_.copy_out(&result, report.address(), sizeof result);
        const bool back = steps % 2 != 0;
        keys.resize(result.states * at(words_));
        numbers.resize(result.states);
        queue_.copy_out(keys.data(), (back ? keys_from : keys_to).address(), 8 * keys.size());
        queue_.copy_out(numbers.data(), (back ? numbers_from : numbers_to).address(), 8 * numbers.size());
        CHECK(queue_.is_whole());
        Numbers all;
        std::uint64_t before = 0;
        for (std::size_t x = 0; x < numbers.size(); ++x) {
            const std::uint64_t key = keys[(x + 1) * at(words_) - (words_ > 1 ? 2 : 1)];
            CHECK((x == 0 || before < key));
            all[before = key] = numbers[x];
        }
        double largest = 0;
        for (const auto &[key, number] : all) largest = std::max(largest, number);
        CHECK(result.largest == largest);
        return all;
    }

    unsigned threads() const { return queue_.block_threads(sparse_tile(words_).threads); }
    std::int64_t tile() const { return threads() * sparse_tile(words_).items; }

  private:
    HostQueue &queue_;
    int words_;
};

Numbers united(std::vector<Numbers> lists) {
    for (; lists.size() > 1; lists.erase(lists.begin() + std::ptrdiff_t(lists.size() + 1) / 2, lists.end()))
        for (std::size_t p = 0; p < lists.size(); p += 2) {
            Numbers sum = lists[p];
            if (p + 1 < lists.size())
                for (const auto &[key, number] : lists[p + 1]) sum[key] += number;
            lists[p / 2] = sum;
        }
    return lists.front();
}

// first, first + step, ...
Numbers spaced(std::int64_t size, std::int64_t first, std::int64_t step, families::Random &random) {
    Numbers list;
    for (std::int64_t k = 0; k < size; ++k)
        list[static_cast<std::uint64_t>(first + k * step)] = random.uniform();
    return list;
}

} // namespace

TEST_CASE("the union of crafted lists: balanced paths at their worst") {
    HostQueue queue;
    families::Random random(test_seed());
    for (const int words : {1, 4, 64}) {
        CAPTURE(words);
        std::optional<Union> unite;
        try {
            unite.emplace(queue, words);
        } catch (const JitError &e) {
            if (e.failure() == JitFailure::unavailable) return;
            throw;
        }
        const auto check = [&](const std::vector<Numbers> &lists) {
            CHECK(unite->of(lists) == united(lists));
        };
        const std::int64_t tile = unite->tile();
        check({{}, {}});
        check({{}, {}, {}});
        for (const std::int64_t more : {-1, 0, 1}) {
            CAPTURE(more);
            const std::int64_t size = tile + more, half = tile / 2 + more;
            const auto list = [&](std::int64_t count, std::int64_t first, std::int64_t step) {
                return spaced(count, first, step, random);
            };
            check({list(size, 5, 1), {}});
            check({{}, list(size, 5, 1)});
            check({list(half, 5, 1), list(half, 5, 1)}); // all equal
            check({list(2 * size, 5, 1), list(2 * size, 5, 1)});
            check({list(half + 1, 4, 1), list(half, 5, 1)}); // all equal, a pair at every border
            check({list(2 * size, 5, 1), list(2 * size, 4, 1)});
            check({list(size, 0, 2), list(size, 1, 2)}); // none equal
            check({list(size, 0, 1), list(size, 9999, 1)});
            check({list(size, 9999, 1), list(size, 0, 1)});
            check({list(3 * tile, 0, 1), list(1, tile - 1 + more, 1)}); // one pair, at the border
            check({list(1, tile - 1 + more, 1), list(3 * tile, 0, 1)});
        }
        for (int trial = 0; trial < 10; ++trial) {
            CAPTURE(trial);
            std::vector<Numbers> lists(at(random.integer(2, 9)));
            for (Numbers &list : lists)
                for (std::int64_t size = random.integer(0, 600); size > 0; --size)
                    list[static_cast<std::uint64_t>(random.integer(1, trial % 2 ? 700 : 100000))] =
                        random.uniform();
            check(lists);
        }
    }
}
