// The bound of a sum along the Gray code, against the exact permanent of thousands of nasty matrices of a few
// patterns. The kernels themselves sum, on the host (tests/support/host_queue.hpp).
#include "bench/families.hpp"
#include "jit/kernel/subset_source.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/run.hpp"
#include "tests/support/subset_cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <gmpxx.h>
#include <string>
#include <vector>

using namespace libperm;
using oracle::Exact;
namespace families = perm::families;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Row by row over sets of columns, in whole numbers: each row in a unit of its own.
Exact permanent(const Pattern &p, const std::vector<double> &values) {
    std::int64_t units = 0;
    std::vector<mpz_class> whole(values.size());
    for (std::int32_t i = 0; i < p.rows; ++i) {
        const auto begin = at(p.row_begin(i)), end = begin + p.row(i).size();
        int unit = 5000;
        for (std::size_t k = begin; k < end; ++k)
            if (values[k] != 0) unit = std::min(unit, std::ilogb(values[k]) - 52);
        for (std::size_t k = begin; k < end; ++k) {
            if (values[k] == 0) continue;
            int exponent = 0;
            whole[k] = std::ldexp(std::frexp(values[k], &exponent), 53);
            whole[k] <<= static_cast<mp_bitcnt_t>(exponent - 53 - unit);
        }
        units += unit == 5000 ? 0 : unit;
    }
    std::vector<mpz_class> ways(std::size_t{1} << p.rows);
    ways[0] = 1;
    for (std::size_t set = 0; set + 1 < ways.size(); ++set) {
        if (ways[set] == 0) continue;
        const auto i = static_cast<std::int32_t>(std::popcount(set));
        auto k = at(p.row_begin(i));
        for (const std::int32_t j : p.row(i)) {
            if (!(set >> j & 1)) ways[set | std::size_t{1} << j] += ways[set] * whole[k];
            ++k;
        }
    }
    return times_power(Exact(ways.back()), units);
}

// ---------------------------------------------------------------- values

constexpr const char *kinds[] = {"cancelling rows",   "1e+-300",     "tiny beside large",
                                 "near 2^52",         "equal",       "denormals",
                                 "cancelling blocks", "last places", "halves of a unit",
                                 "small integers",    "nonnegative", "sums to nothing"};

double sign(families::Random &random) { return random.chance(0.5) ? -1 : 1; }

std::vector<double> nasty_values(std::size_t kind, const Pattern &p, families::Random &random) {
    std::vector<double> v(at(p.nnz()));
    const double scale = std::ldexp(1.0, static_cast<int>(random.integer(-900, 900)));
    const double common = random.uniform(-2, 2);
    for (std::int32_t i = 0; i < p.rows; ++i) {
        const auto begin = at(p.row_begin(i)), end = begin + p.row(i).size();
        for (std::size_t k = begin; k < end; ++k) switch (kind) {
            case 0:
            case 6:
                v[k] = random.uniform(-1, 1);
                break;
            case 1:
                v[k] = random.uniform(-1, 1) * (random.chance(0.5) ? 1e300 : 1e-300);
                break;
            case 2:
                v[k] = sign(random) * random.uniform(1, 2) *
                       std::ldexp(1.0, random.chance(0.5) ? 0 : -static_cast<int>(random.integer(1, 70)));
                break;
            case 3:
                v[k] = sign(random) * (0x1p52 + static_cast<double>(random.integer(-5, 5)));
                break;
            case 4:
                v[k] = common;
                break;
            case 5:
                v[k] = sign(random) * static_cast<double>(random.integer(1, 99)) * 0x1p-1074;
                break;
            case 7: // products round as far as they can
                v[k] = sign(random) * (1 + std::ldexp(static_cast<double>(random.integer(0, 3)), -52));
                break;
            case 8: // half of what the grid holds
                v[k] = random.chance(0.4) ? sign(random)
                                          : static_cast<double>(2 * random.integer(0, 4) + 1) *
                                                std::ldexp(1.0, static_cast<int>(random.integer(-56, -53)));
                break;
            case 9:
                v[k] = static_cast<double>(random.integer(-9, 9));
                break;
            case 10:
                v[k] = random.uniform() * scale;
                break;
            default:
                v[k] = random.uniform(1, 2);
            }
        if (kind == 11) { // a row's last entry takes the rest
            double sum = 0;
            for (std::size_t k = begin; k + 1 < end; ++k) sum += v[k] *= sign(random);
            if (begin + 1 < end) v[end - 1] = -sum;
        }
        if ((kind == 0 || kind == 6) &&
            i % 2 == 1) { // nearly opposite to the row above, where both have entries
            const double factor =
                kind == 0 ? -1 - random.uniform() * std::ldexp(1.0, -static_cast<int>(random.integer(5, 52)))
                          : sign(random);
            auto k = begin;
            for (const std::int32_t j : p.row(i)) {
                auto above = at(p.row_begin(i - 1));
                for (const std::int32_t other : p.row(i - 1)) {
                    if (other == j) v[k] = factor * (kind == 6 && j % 2 == 1 ? -1 : 1) * v[above];
                    ++above;
                }
                ++k;
            }
        }
    }
    if (random.chance(0.1)) v[at(random.integer(0, p.nnz() - 1))] = 0;
    return v;
}

// ---------------------------------------------------------------- kernels

struct Launched {
    SubsetPlan plan;
    Pattern pattern; // of what is summed
};

Launched launched(SubsetEngine engine, const perm::Csr &a, std::int32_t segment_bits, std::int32_t unrolled) {
    const Pattern p = pattern_of(a), t = transpose(p).pattern;
    Launched it{plan_subsets(engine, p, t, false), p};
    if (it.plan.transposed) it.pattern = t;
    SubsetKernel &kernel = it.plan.kernel;
    kernel.threads = 1;
    kernel.segment_bits = std::min(segment_bits, kernel.n - 1);
    kernel.unrolled = std::min(unrolled, kernel.segment_bits);
    if (engine == SubsetEngine::hybrid) kernel.unrolled = std::min(kernel.unrolled, kernel.c);
    return it;
}

struct Worst {
    double ratio = 0;
    int sets = 0, exact = 0, informative = 0, violated = 0;
};

} // namespace

TEST_CASE("values made to break the bound of a sum along the Gray code do not") {
    families::Random random(run::seed(0x677261));
    std::vector<Launched> all;
    constexpr families::Entries ones = families::Entries::ones;
    for (const SubsetEngine engine :
         {SubsetEngine::purereg, SubsetEngine::hybrid, SubsetEngine::shared, SubsetEngine::dense}) {
        all.push_back(launched(engine, families::erdos_renyi(3, 1, ones, 1), 2, 1));
        all.push_back(launched(engine, families::erdos_renyi(6, 1, ones, 1), 3, 3));
        all.push_back(launched(engine, families::permutation_plus(8, 3, ones, random.bits()), 2, 1));
        all.push_back(launched(engine, families::arrow(7, ones, 1), 1, 0));
    }
    all.push_back(launched(SubsetEngine::purereg, families::erdos_renyi(1, 1, ones, 1), 0, 0));
    all.push_back(launched(SubsetEngine::purereg, families::erdos_renyi(9, 1, ones, 1), 8, 6));
    std::vector<KernelRecipe> kernels;
    for (const Launched &it : all) kernels.push_back(subsets_kernel(it.plan.kernel));
    HostQueue queue;
    if (!subset_cases::compiled(queue, kernels)) return;
    queue.device.blocks = [](unsigned, std::size_t) { return 1U; };
    queue.device.block_threads = 1;

    std::vector<Worst> worst(std::size(kinds));
    for (std::size_t which = 0; which < all.size(); ++which) {
        auto &[plan, pattern] = all[which];
        for (int set = 0; set < run::sweep(1200); ++set) {
            const std::size_t kind = at(set) % std::size(kinds);
            const std::vector<double> v = nasty_values(kind, pattern, random);
            Block block{pattern, {}};
            for (const double x : v) block.values.push_back(tracked(x));
            plan.tolerance = set % 24 < 12 ? 0 : 1e-13;
            plan.most_refined = 0.5;
            const Outcome outcome = subset_cases::run_on(queue, plan, block);
            const Exact truth = permanent(pattern, v), error = abs(exactly(outcome.value) - truth);
            const bool told = std::isfinite(outcome.error.mantissa);
            const Exact bound = told ? exactly(outcome.error) : Exact(0);
            bool right = std::isfinite(outcome.value.mantissa) && (!outcome.exact || error == 0);
            if (told) right = right && error <= bound;
            if (std::isfinite(outcome.rel_error_bound))
                right = right && error <= Exact(outcome.rel_error_bound) * abs(truth);
            Worst &of_kind = worst[kind];
            ++of_kind.sets;
            of_kind.exact += outcome.exact;
            of_kind.informative += outcome.rel_error_bound < 1;
            if (told && bound > 0) of_kind.ratio = std::max(of_kind.ratio, Exact(error / bound).get_d());
            if (right) continue;
            if (++of_kind.violated > 3) continue; // they are counted all the same
            FAIL_CHECK(subset_engine_name(plan.kernel.engine)
                       << " n = " << plan.kernel.n << ", set " << set << ", " << kinds[kind] << ", tolerance "
                       << plan.tolerance << ": value " << outcome.value.mantissa << " * 2^"
                       << outcome.value.exp2 << ", truth / value "
                       << Exact(truth / exactly(outcome.value)).get_d() << ", bound "
                       << outcome.rel_error_bound << (outcome.exact ? ", said to be exact" : ""));
        }
    }
    for (std::size_t kind = 0; kind < worst.size(); ++kind) {
        const Worst &w = worst[kind];
        MESSAGE(std::string(kinds[kind])
                << ": " << w.sets << " sets, " << w.exact << " exact, " << w.informative
                << " informative, error at most " << w.ratio << " of its bound");
        CHECK(w.violated == 0);
        CHECK(w.ratio <= 1);
    }
    CHECK(worst[9].exact > worst[9].sets / 2);         // small integers
    CHECK(worst[10].informative > worst[10].sets / 2); // nonnegative
    CHECK(worst[7].ratio > 1e-4);                      // bounds that are not idle
}
