// Pieces shared out among workers of different speed, of which some fail: each is computed, or the failure is
// told. And the tree's windows, by two processors of which one breaks down.
#include "bench/families.hpp"
#include "jit/driver/jit_error.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/tree_plan.hpp"
#include "lib/subsets/windows.hpp"
#include "tests/support/run.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace libperm;
using perm::families::Entries;
using perm::families::Random;

namespace {

struct OwnFailure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

bool is_own(std::size_t, const std::exception_ptr &error) {
    try {
        std::rethrow_exception(error);
    } catch (const OwnFailure &) {
        return true;
    } catch (...) {
        return false;
    }
}

// What a worker does before it fails; below 0: it never does.
struct Worker {
    std::int64_t fails_after = -1; // pieces
    std::chrono::microseconds each{0};
    std::uint64_t most = 1000;
};

class Site {
  public:
    Site(std::vector<Worker> workers, std::size_t pieces)
        : workers_(std::move(workers)), done_(workers_.size()), times_(pieces) {}

    // Every other piece, from 5 on.
    void run() {
        std::vector<std::uint64_t> todo(times_.size());
        for (std::size_t k = 0; k < todo.size(); ++k) todo[k] = 5 + 2 * k;
        share_out(todo, workers_.size(),
                  {[this](std::size_t worker) { return workers_[worker].most; },
                   [this](std::size_t worker, std::span<const std::uint64_t> some) { work(worker, some); },
                   is_own});
    }

    // How often each piece was computed.
    int least() const { return *std::min_element(times_.begin(), times_.end()); }
    std::int64_t by(std::size_t worker) const { return done_[worker]; }
    std::int64_t by_all() const { return std::accumulate(done_.begin(), done_.end(), std::int64_t{0}); }

  private:
    void work(std::size_t worker, std::span<const std::uint64_t> some) {
        const Worker &w = workers_[worker];
        if (some.empty() || some.size() > w.most || !std::is_sorted(some.begin(), some.end())) ++wrong;
        for (const std::uint64_t k : some) {
            if (done_[worker] == w.fails_after) throw OwnFailure("worker " + std::to_string(worker));
            if (w.each.count() > 0) std::this_thread::sleep_for(w.each);
            ++done_[worker];
            ++times_[(k - 5) / 2];
        }
    }

    std::vector<Worker> workers_;
    std::vector<std::int64_t> done_; // each its own thread's
    std::vector<std::atomic<int>> times_;

  public:
    std::atomic<int> wrong{0};
};

Worker failing(std::int64_t after, Random &random) {
    return {after, std::chrono::microseconds(random.integer(0, 300)),
            static_cast<std::uint64_t>(random.integer(1, 50))};
}

} // namespace

TEST_CASE("each piece is computed once, whatever the speed of the workers") {
    Random random(run::seed(9300));
    for (int i = 0; i < run::cases(30); ++i) {
        std::vector<Worker> workers;
        for (std::int64_t w = random.integer(1, 6); w > 0; --w) workers.push_back(failing(-1, random));
        const auto pieces = static_cast<std::size_t>(random.integer(0, 300));
        Site site(std::move(workers), pieces);
        site.run();
        CHECK(site.by_all() == static_cast<std::int64_t>(pieces));
        if (pieces > 0) CHECK(site.least() == 1);
        CHECK(site.wrong == 0);
    }
}

TEST_CASE("workers that fail leave their pieces to the others") {
    Random random(run::seed(9301));
    for (int i = 0; i < run::cases(60); ++i) {
        std::vector<Worker> workers;
        const std::int64_t count = random.integer(2, 6), sound = random.integer(0, count - 1);
        for (std::int64_t w = 0; w < count; ++w)
            workers.push_back(failing(w == sound           ? -1
                                      : random.chance(0.3) ? 0
                                                           : random.integer(1, 40),
                                      random));
        Site site(std::move(workers), static_cast<std::size_t>(random.integer(1, 300)));
        site.run();
        CHECK(site.least() >= 1);
        CHECK(site.wrong == 0);
    }
}

TEST_CASE("when all fail, the failure is told") {
    Random random(run::seed(9302));
    for (int i = 0; i < run::cases(60); ++i) {
        std::vector<Worker> workers;
        for (std::int64_t w = random.integer(1, 6); w > 0; --w)
            workers.push_back(failing(random.chance(0.5) ? 0 : random.integer(1, 40), random));
        Site site(std::move(workers), 400);
        CHECK_THROWS_AS(site.run(), OwnFailure);
    }
}

TEST_CASE("any other exception stops all, from any worker, and so does one of what is asked before") {
    for (const std::size_t who : {0, 1, 2})
        for (const bool before : {false, true}) {
            std::vector<std::uint64_t> todo(100000);
            std::iota(todo.begin(), todo.end(), 0);
            std::atomic<std::size_t> done = 0;
            std::atomic<int> calls = 0;
            const SharedWork work{[&](std::size_t worker) -> std::uint64_t {
                                      if (before && worker == who && ++calls == 3)
                                          throw Error(PERM_CANCELLED, "of a worker");
                                      return 10;
                                  },
                                  [&](std::size_t worker, std::span<const std::uint64_t> some) {
                                      std::this_thread::sleep_for(std::chrono::microseconds(50));
                                      if (!before && worker == who)
                                          throw Error(PERM_CANCELLED, "of a worker");
                                      done += some.size();
                                  },
                                  is_own};
            CHECK_THROWS_AS(share_out(todo, 3, work), Error);
            CHECK(done < todo.size());
        }
}

TEST_CASE("a failure of what is asked before a worker takes pieces is the worker's own") {
    std::vector<std::uint64_t> todo(1000);
    std::iota(todo.begin(), todo.end(), 0);
    std::atomic<std::size_t> done = 0;
    std::atomic<int> calls = 0;
    share_out(todo, 2,
              {[&](std::size_t worker) -> std::uint64_t {
                   if (worker == 1 && ++calls == 2) throw OwnFailure("worker 1");
                   return 0; // taken as 1
               },
               [&](std::size_t, std::span<const std::uint64_t> some) { done += some.size(); }, is_own});
    CHECK(done == todo.size());
}

TEST_CASE("nothing to do") {
    const SharedWork work{[](std::size_t) { return std::uint64_t{1}; },
                          [](std::size_t, std::span<const std::uint64_t>) { throw OwnFailure("nothing"); },
                          is_own};
    for (const std::size_t workers : {1, 4}) CHECK_NOTHROW(share_out({}, workers, work));
}

// ---------------------------------------------------------------- windows

namespace {

// The processor, until it breaks down.
class Breaking final : public WindowWorker {
  public:
    Breaking(const SubsetPlan &plan, std::int64_t windows) : sound_(tree_on_cpu(plan)), left_(windows) {}
    std::uint64_t at_once() const override { return 2; }
    std::vector<SubsetSum> sums(const SubsetMatrix &matrix, std::uint64_t first,
                                std::uint64_t count) override {
        if (left_ < 0) throw Error(PERM_CANCELLED, "not of its device");
        left_ -= static_cast<std::int64_t>(count);
        if (left_ < 0) throw JitError(JitFailure::device, "it fell off the bus");
        return sound_->sums(matrix, first, count);
    }

  private:
    std::unique_ptr<WindowWorker> sound_;
    std::int64_t left_;
};

bool same(const SubsetSum &x, const SubsetSum &y) {
    const auto bits = [](double z) { return std::bit_cast<std::uint64_t>(z); };
    return bits(x.sum) == bits(y.sum) && bits(x.error) == bits(y.error) &&
           bits(x.absolute) == bits(y.absolute) && bits(x.im) == bits(y.im) &&
           bits(x.im_error) == bits(y.im_error);
}

SubsetMatrix matrix_of(const SubsetPlan &plan, const Block &block) {
    const std::vector<double> numbers = FixedPointDouble(plan, block).numbers();
    return {numbers, choose_refined(plan, numbers)};
}

SubsetPlan tree_plan(const Block &block) {
    TreeSearch search;
    return plan_tree(block.pattern, transposed(block).pattern, search);
}

} // namespace

TEST_CASE("windows summed by two workers of which one breaks down: the bits of one") {
    Random random(run::seed(9303));
    const perm::Csr a = perm::families::erdos_renyi(28, 0.45, Entries::real, random.bits());
    const Block block = trees::block_of(a);
    const SubsetPlan plan = tree_plan(block);
    REQUIRE(window_count(plan.kernel) >= 8);
    Block other = plan.transposed ? transposed(block) : block;
    std::vector<SubsetMatrix> matrices{matrix_of(plan, other)};
    for (Tracked &x : other.values) x.value *= random.uniform(0.5, 1);
    matrices.push_back(matrix_of(plan, other));
    const auto sums_by = [&](const std::vector<std::int64_t> &windows) {
        const auto open = [&] {
            WindowWorkers workers;
            for (const std::int64_t w : windows) workers.push_back(std::make_unique<Breaking>(plan, w));
            return workers;
        };
        return sum_windows(plan, matrices, open);
    };
    constexpr std::int64_t never = 1 << 20;
    const std::vector<SubsetSum> truth = sums_by({never});
    REQUIRE(truth.size() == 2);
    CHECK(!same(truth[0], truth[1]));
    for (const std::int64_t windows : {std::int64_t{0}, random.integer(1, 4)})
        for (const bool first : {true, false}) {
            const std::vector<SubsetSum> sums =
                sums_by(first ? std::vector{windows, never} : std::vector{never, windows});
            REQUIRE(sums.size() == truth.size());
            for (std::size_t k = 0; k < sums.size(); ++k) CHECK(same(sums[k], truth[k]));
        }
    CHECK_THROWS_AS(sums_by({0}), JitError);
    CHECK_THROWS_AS(sums_by({1, 2}), JitError);
    CHECK_THROWS_AS(sums_by({-1, never}), Error);
}

TEST_CASE("where all sums are known no worker is opened") {
    Random random(run::seed(9304));
    const perm::Csr a = perm::families::erdos_renyi(16, 0.6, Entries::real, random.bits());
    const Block block = trees::block_of(a);
    const SubsetPlan plan = tree_plan(block);
    const std::vector<SubsetMatrix> matrices{matrix_of(plan, plan.transposed ? transposed(block) : block)};
    CurrentCall whole;
    libperm::PieceStore store;
    CurrentCall control(1, libperm::PieceScope{&store, {}});
    int opened = 0;
    const auto open = [&] {
        ++opened;
        WindowWorkers workers;
        workers.push_back(tree_on_cpu(plan));
        return workers;
    };
    const std::vector<SubsetSum> truth = sum_windows(plan, matrices, open);
    CHECK(opened == 1);
    CHECK(same(sum_windows(plan, matrices, open).at(0), truth.at(0)));
    CHECK(opened == 1);
}
