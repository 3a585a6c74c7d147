// A block's values as the kernels take them: on a grid on which row sums round nowhere; and what the values
// moved by is in the bound.
#include "lib/subsets/kernel_values.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/run.hpp"
#include "tests/support/subset_cases.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

using namespace libperm;
using namespace subset_cases;
using trees::block_of;
namespace families = perm::families;

namespace {

std::uint64_t test_seed() { return run::seed(0x6b726e); }

} // namespace

TEST_CASE("row sums of the kernels' numbers round nowhere") {
    families::Random random(test_seed() + 5);
    int off_grid = 0;
    for (int trial = 0; trial < run::cases(120); ++trial) {
        CAPTURE(trial);
        const std::int64_t n = random.integer(1, 24);
        const auto entries = static_cast<families::Entries>(trial % 5);
        Block block = block_of(matrix_with(n, entries, random));
        const int spread = trial % 3 == 0 ? 0 : trial % 3 == 1 ? 60 : 2000;
        for (Tracked &x : block.values) x.exp2 += random.integer(-spread, spread);
        const SubsetEngine engine = engines[trial / 5 % 4];
        const SubsetPlan plan = plan_in_order(engine, block.pattern, any_order(block.n(), random));
        const std::vector<double> numbers = FixedPointDouble(plan, block).numbers();
        REQUIRE(numbers.size() == at(value_count(plan.kernel)));
        // Entries by column of the kernel.
        std::vector<std::vector<std::pair<std::size_t, double>>> column(at(n));
        for (std::size_t j = 0; j < at(n); ++j)
            if (engine == SubsetEngine::dense)
                for (std::size_t r = 0; r < at(n); ++r)
                    column[j].emplace_back(r, numbers[at(n) * (j + 1) + r]);
            else
                for (auto e = plan.kernel.column_ptr[j]; e < plan.kernel.column_ptr[j + 1]; ++e)
                    column[j].emplace_back(at(plan.kernel.row[at(e)]), numbers[at(n + e)]);
        std::vector<double> x(numbers.begin(), numbers.begin() + n);
        std::vector<Exact> exact(at(n));
        for (std::size_t j = 0; j < at(n); ++j)
            for (const auto &[r, value] : column[j])
                exact[r] += Exact(value) * Exact(j + 1 == at(n) ? 0.5 : -0.5);
        std::vector<bool> in(at(n));
        bool right = true;
        for (int step = 0; step < 60; ++step) {
            for (std::size_t r = 0; r < at(n); ++r)
                right = right && Exact(x[r]) == exact[r] && std::fabs(x[r]) <= 1;
            if (n == 1) break;
            const auto j = at(random.integer(0, n - 2));
            for (const auto &[r, value] : column[j]) {
                x[r] += in[j] ? -value : value;
                if (in[j])
                    exact[r] -= Exact(value);
                else
                    exact[r] += Exact(value);
            }
            in[j] = !in[j];
        }
        CHECK(right);
        std::size_t k = 0; // whether it had to be put on a grid
        for (std::int32_t i = 0; i < block.n(); ++i) {
            double lowest = 1e9, highest = -1e9;
            for (std::size_t of_row = 0; of_row < block.pattern.row(i).size(); ++of_row, ++k) {
                lowest = std::min(lowest, static_cast<double>(block.values[k].exp2));
                highest = std::max(highest, static_cast<double>(block.values[k].exp2));
            }
            off_grid += highest - lowest > 60;
        }
    }
    CHECK(off_grid > run::enough(50));
}

TEST_CASE("a row whose values add up to just above 1 is put on a coarser grid") {
    constexpr double u = 0x1p-53;
    perm::Csr a = families::constant(9, 1);
    for (std::size_t j = 0; j < 8; ++j) a.values[j] = (j % 2 ? -1 : 1) * (0.125 - 0.375 * u);
    a.values[8] = u; // on the grid of u they add up to 1 + u, which as a double is 1
    const Block block = block_of(a);
    const SubsetPlan plan =
        plan_subsets(SubsetEngine::dense, block.pattern, transpose(block.pattern).pattern, false);
    const std::vector<double> numbers = FixedPointDouble(plan, block).numbers();
    Exact sum = 0, unit = 0x1p-52;
    bool coarse = true;
    for (std::size_t j = 0; j < 9; ++j) {
        const Exact entry(numbers[9 + 9 * j]);
        sum += abs(entry);
        coarse = coarse && Exact(entry / unit).get_den() == 1;
    }
    CHECK((coarse || sum <= 1));
}

TEST_CASE("what the grid moved is in the bound, on nasty values too") {
    Random random(test_seed() + 6);
    int finite = 0, beyond = 0, infinite = 0, exact = 0;
    for (int trial = 0; trial < run::cases(800); ++trial) {
        CAPTURE(trial);
        const std::int64_t n = random.integer(1, 8);
        const bool nonnegative = random.chance(0.5);
        Block block = block_of(
            matrix_with(n, nonnegative ? families::Entries::nonnegative : families::Entries::real, random));
        for (Tracked &x : block.values) {
            const double sign = x.value < 0 ? -1 : 1;
            switch (trial % 8) {
            case 0: // spread a little
                x.exp2 += random.integer(-12, 12);
                break;
            case 1:
                x = tracked(sign * (random.chance(0.5) ? 1e300 : 1e-300) * random.uniform(1, 2));
                break;
            case 2: // a unit in the last place, or half of one
                x = tracked(sign * (random.chance(0.5)   ? 1 + 0x1p-52
                                    : random.chance(0.5) ? 0x1p-53
                                                         : 0x1.8p-53));
                break;
            case 3: // denormal, beside what is not
                x = tracked(sign * static_cast<double>(random.integer(1, 9)) *
                            (random.chance(0.6)   ? 0x1p-1074
                             : random.chance(0.5) ? 0x1p-1040
                                                  : 0x1p-1022));
                break;
            case 4: // far beyond a double's range
                x.exp2 += random.integer(-3000, 3000);
                break;
            case 5:
                x = tracked(sign * static_cast<double>(random.integer(1, 99)));
                break;
            case 6: // tiny beside large
                x.exp2 -= random.chance(0.4) ? random.integer(20, 56) : 0;
                break;
            default: // far below its magnitude
                if (random.chance(0.4))
                    x.value = std::ldexp(x.value, static_cast<int>(-random.integer(1, 60)));
            }
        }
        if (random.chance(0.1)) block.values[at(random.integer(0, block.pattern.nnz() - 1))].value = 0;
        const SubsetPlan plan =
            plan_in_order(engines[trial % 4], block.pattern, any_order(block.n(), random));
        const FixedPointDouble values(plan, block);
        const auto permanent = [&](const std::function<Exact(std::int32_t, std::size_t)> &entry) {
            std::vector<Exact> ways(std::size_t{1} << n); // of sets of columns, row by row
            ways[0] = 1;
            for (std::size_t set = 0; set + 1 < ways.size(); ++set) {
                const auto i = static_cast<std::int32_t>(std::popcount(set));
                auto k = at(block.pattern.row_begin(i));
                for (const std::int32_t j : block.pattern.row(i)) {
                    if (!(set >> j & 1) && ways[set] != 0)
                        ways[set | std::size_t{1} << j] += ways[set] * entry(i, k);
                    ++k;
                }
            }
            return ways.back();
        };
        const Exact truth = permanent([&](std::int32_t, std::size_t k) { return exactly(block.values[k]); });
        // The kernels' numbers where they stand in the block.
        std::vector<double> moved(block.values.size());
        std::vector<std::int64_t> next = plan.kernel.column_ptr;
        std::vector<std::size_t> column_place(at(n));
        for (std::size_t c = 0; c < at(n); ++c) column_place[at(plan.order.cols[c])] = c;
        for (std::size_t r = 0; r < at(n); ++r) {
            const std::int32_t i = plan.order.rows[r];
            auto k = at(block.pattern.row_begin(i));
            for (const std::int32_t j : block.pattern.row(i)) {
                const std::size_t c = column_place[at(j)];
                moved[k++] = values.numbers()[at(n) + (next.empty() ? c * at(n) + r : at(next[c]++))];
            }
        }
        const Exact summed = permanent([&](std::int32_t, std::size_t k) { return Exact(moved[k]); });
        // A sum without any rounding of its own but for the result's.
        const Exact total = summed / (n % 2 ? 2 : -2);
        SubsetSum sum;
        sum.sum = total.get_d();
        sum.error = Exact(total - Exact(sum.sum)).get_d();
        sum.absolute = std::fabs(sum.sum);
        const Outcome outcome = outcome_of(values.close(sum, block, {1, block.n() + 1.0}));
        check(outcome, truth);
        if (trial % 8 == 5 && n <= 5) CHECK(outcome.exact);
        exact += outcome.exact;
        if (std::isinf(outcome.rel_error_bound))
            ++infinite;
        else if (!outcome.exact) {
            ++finite;
            beyond += abs(exactly(outcome.value) - truth) > abs(truth) * Exact(0x1p-48);
        }
    }
    CHECK(finite > run::enough(200));
    CHECK(beyond > run::enough(20)); // the grid was to be noticed
    CHECK(infinite > run::enough(20));
    CHECK(exact > run::enough(80));
}
