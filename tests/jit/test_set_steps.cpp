// Steps over sets of lines by their definition, and with the same bits for each instruction set.
#include "bench/families.hpp"
#include "jit/lanes/set_steps.hpp"
#include "tests/support/run.hpp"
#include "tests/support/simd_targets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace libperm;
using namespace perm::families;

namespace {

struct Table {
    explicit Table(int bits)
        : all((std::size_t{1} << bits) + 2 * set_margin, 0.0), numbers(all.data() + set_margin) {}
    Table(const Table &) = delete;

    std::vector<double> all;
    double *numbers;
};

// A step of some lines of a table with `bits` of them, of which the last `opened` are in no set before.
struct Case {
    Case(int of_bits, int of_opened, double density, Random &random)
        : bits(of_bits), before_bits(of_bits - of_opened), factor(static_cast<std::size_t>(of_bits)) {
        for (int k = 0; k < bits; ++k)
            if (k >= before_bits || random.chance(density))
                factor[static_cast<std::size_t>(k)] = 1 - random.uniform();
        step.stays = random.chance(0.8) ? random.uniform() : 0;
        for (int k = 0; k < bits; ++k) {
            const double a = factor[static_cast<std::size_t>(k)];
            if (k < set_block_bits)
                step.low[static_cast<std::size_t>(k)] = a;
            else
                high.push_back({std::uint64_t{1} << (k - set_block_bits), a});
            if (k >= std::max(before_bits, set_block_bits))
                step.opened |= std::uint64_t{1} << (k - set_block_bits);
        }
        step.high = high;
    }
    Case(const Case &) = delete;

    int bits, before_bits;
    std::vector<double> factor;
    std::vector<SetStep::High> high;
    SetStep step;
};

} // namespace

TEST_CASE("steps over sets, forwards and back") {
    Random random(run::seed(2601));
    for (int i = 0; i < run::cases(60); ++i) {
        const int bits = static_cast<int>(random.integer(set_block_bits, 10)),
                  opened = static_cast<int>(random.integer(0, 3));
        Case of(bits, opened, random.uniform(0, 1), random);
        const std::size_t sets = std::size_t{1} << bits, sets_before = std::size_t{1} << of.before_bits;
        // A table has at least a block, though fewer lines.
        const int table_bits = std::max(of.before_bits, set_block_bits);
        Table before(table_bits), slopes_after(bits);
        for (std::size_t s = 0; s < sets_before; ++s) before.numbers[s] = random.uniform();
        for (std::size_t s = 0; s < sets; ++s) slopes_after.numbers[s] = random.uniform();
        of.step.before = before.numbers;
        const auto old = [&](std::size_t s) { return s < sets_before ? before.numbers[s] : 0; };
        const std::size_t blocks = sets / set_block,
                          blocks_before = (std::size_t{1} << table_bits) / set_block;
        std::vector<double> first_after, first_slopes, first_sums;
        int targets = 0;
        for_each_target([&] {
            Table after(bits), slopes(table_bits);
            std::vector<double> sums(sums_of(of.step), -1);
            step_forward(of.step, 0, blocks, after.numbers);
            step_back(of.step, 0, blocks_before, slopes_after.numbers, slopes.numbers, sums.data());
            if (targets++ == 0) {
                for (std::size_t s = 0; s < sets; ++s) {
                    double sum = of.step.stays * old(s);
                    for (std::size_t k = 0; k < of.factor.size(); ++k)
                        if (s >> k & 1) sum += of.factor[k] * old(s ^ std::size_t{1} << k);
                    CHECK(after.numbers[s] == doctest::Approx(sum).epsilon(1e-13));
                }
                std::vector<double> of_lines(of.factor.size());
                double of_stays = 0;
                for (std::size_t s = 0; s < sets_before; ++s) {
                    double sum = of.step.stays * slopes_after.numbers[s];
                    of_stays += old(s) * slopes_after.numbers[s];
                    for (std::size_t k = 0; k < of.factor.size(); ++k)
                        if (!(s >> k & 1)) {
                            const double there = slopes_after.numbers[s | std::size_t{1} << k];
                            sum += of.factor[k] * there;
                            of_lines[k] += old(s) * there;
                        }
                    CHECK(slopes.numbers[s] == doctest::Approx(sum).epsilon(1e-13));
                }
                if (of.step.stays != 0) CHECK(sums[0] == doctest::Approx(of_stays).epsilon(1e-13));
                for (std::size_t k = 0; k < of.factor.size(); ++k)
                    if (of.factor[k] != 0) CHECK(sums[1 + k] == doctest::Approx(of_lines[k]).epsilon(1e-13));
                first_after = after.all, first_slopes = slopes.all, first_sums = sums;
            }
            CHECK(after.all == first_after);
            CHECK(slopes.all == first_slopes);
            CHECK(sums == first_sums);
        });
        CHECK(targets > 0);
    }
}
