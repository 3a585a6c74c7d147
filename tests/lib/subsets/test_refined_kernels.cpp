// The segments that matter most, summed again in products of twice the precision, against their exact sums.
#include "lib/subsets/kernel_values.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/run.hpp"
#include "tests/support/segment_watch.hpp"
#include "tests/support/subset_cases.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gmpxx.h>

using namespace libperm;
using namespace subset_cases;
using trees::block_of;
namespace families = perm::families;

namespace {

std::uint64_t test_seed() { return run::seed(0x6b726e); }

// The sum of a segment without any rounding, times 2^scale_of(n).
std::int64_t scale_of(std::int64_t n) { return 60 * n; } // |x| <= 1, multiples of 2^-55

mpz_class exact_segment(const SubsetKernel &kernel, const std::vector<double> &numbers,
                        std::uint64_t segment) {
    const auto n = at(kernel.n);
    const auto whole = [](double x) {
        const double scaled = std::ldexp(x, 60);
        if (scaled != std::nearbyint(scaled)) FAIL("not on the grid: " << x);
        return mpz_class(scaled);
    };
    mpz_class sum = 0;
    for (std::uint64_t m = 0; m < std::uint64_t{1} << kernel.segment_bits; ++m) {
        const std::uint64_t i = segment << kernel.segment_bits | m, set = i ^ i >> 1;
        std::vector<mpz_class> x;
        for (std::size_t r = 0; r < n; ++r) x.push_back(whole(numbers[r]));
        for (std::size_t j = 0; j + 1 < n; ++j) {
            if (!(set >> j & 1)) continue;
            if (kernel.engine == SubsetEngine::dense)
                for (std::size_t r = 0; r < n; ++r) x[r] += whole(numbers[n * (j + 1) + r]);
            else
                for (auto e = kernel.column_ptr[j]; e < kernel.column_ptr[j + 1]; ++e)
                    x[at(kernel.row[at(e)])] += whole(numbers[n + at(e)]);
        }
        mpz_class product = i & 1 ? -1 : 1;
        for (const mpz_class &factor : x) product *= factor;
        sum += product;
    }
    return sum;
}

// Rows in pairs that are nearly opposite, so that terms cancel.
perm::Csr nearly_opposite(std::int64_t n, Random &random) {
    families::Dense rows =
        families::to_dense(families::erdos_renyi(n, 1, families::Entries::real, random.bits()));
    for (std::size_t i = 1; i < at(n); i += 2)
        for (std::size_t j = 0; j < at(n); ++j)
            rows[i][j] = -rows[i - 1][j] * (1 + std::ldexp(random.uniform(-1, 1), -static_cast<int>(n)));
    return families::from_dense(rows);
}

// As many bits as the shape of a kernel has, of what was summed.
bool same_bits(const std::vector<Partial3> &x, const std::vector<Partial3> &y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(Partial3)) == 0;
}

} // namespace

TEST_CASE("segments summed again, in any order: the bound holds, and they are nearer to the truth") {
    Random random(test_seed() + 9);
    std::vector<Case> cases;
    for (int repeat = 0; repeat < run::multiplier(); ++repeat)
        for (const SubsetEngine engine : engines)
            for (std::int64_t n = 1; n <= 12; ++n) {
                if (n % 2 == 0 && n > 2) {
                    const perm::Csr a = nearly_opposite(n, random);
                    SubsetPlan plan = plan_in_order(engine, block_of(a).pattern,
                                                    any_order(static_cast<std::int32_t>(n), random));
                    choose_shape(plan.kernel, random);
                    cases.push_back(make_case(a, oracle::by_frontier(a), plan));
                } else {
                    cases.push_back(any_case(engine, false, n, random));
                }
            }
    for (Case &c : cases) { // a planned segment has 1024 subsets, or n = 1; and not too many threads to play
        std::int32_t &bits = c.plan.kernel.segment_bits;
        bits = std::max({bits, c.plan.kernel.n - 8, std::min(1, c.plan.kernel.n - 1)});
    }
    HostQueue queue;
    if (!compiled(queue, cases)) return;
    int some = 0, segments = 0, nearer = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        Case &c = cases[i];
        const SubsetKernel &kernel = c.plan.kernel;
        CAPTURE(c.name);
        const FixedPointDouble values(c.plan, c.block);
        c.plan.tolerance = 1e-13;
        for (const double most : {0.5, 0.5, 0.3, 0.2}) {
            CAPTURE(most);
            c.plan.most_refined = most;
            const Played played = any_device(c.plan, random);
            SegmentWatch again(queue);
            const Outcome outcome = run_on(queue, c, played);
            check(outcome, c.truth);
            some += !again.chosen().empty();

            SegmentWatch other_order(queue, 1 + random.bits() / 2);
            const Outcome other_outcome = run_on(queue, c, played);
            CHECK(same_bits(other_order.segments(), again.segments()));
            CHECK(same_bits(other_outcome, outcome));

            const std::vector<Partial3> &plain = again.plain_segments(), &accurate = again.segments();
            REQUIRE(plain.size() == accurate.size());
            std::vector<bool> is_chosen(plain.size());
            for (const std::uint64_t s : again.chosen()) is_chosen[s] = true;
            for (std::size_t s = 0; s < plain.size(); ++s)
                if (!is_chosen[s] && std::memcmp(&plain[s], &accurate[s], sizeof(Partial3)) != 0)
                    FAIL_CHECK("segment " << s << " was not chosen, but has changed");
            for (std::size_t k = 0; k < std::min<std::size_t>(40, again.chosen().size()); ++k) {
                const auto s = again.chosen()[at(random.integer(0, std::ssize(again.chosen()) - 1))];
                const Exact truth =
                    times_power(Exact(exact_segment(kernel, values.numbers(), s)), -scale_of(kernel.n));
                const auto error_of = [&](const Partial3 &p) {
                    return Exact(abs(Exact(p.sum.sum) + Exact(p.sum.error) - truth));
                };
                const Exact of_plain = error_of(plain[s]), of_accurate = error_of(accurate[s]),
                            absolute(plain[s].absolute);
                const double terms = std::ldexp(1.0, kernel.segment_bits);
                CHECK(of_plain <= absolute * Exact((kernel.n + terms) * 0x1p-53 * 1.01));
                // What the bound says of each.
                const double relative = gamma_bound(kernel.n + block_terms(kernel) + 4);
                CHECK(of_plain <= absolute * Exact(relative));
                CHECK(of_accurate <= Exact(accurate[s].absolute) * Exact(relative));
                CHECK(std::fabs(accurate[s].absolute * accurate_gain - plain[s].absolute) <=
                      1e-12 * plain[s].absolute);
                // The plain one may be right by chance, the other one within its own rounding only.
                const Exact least = absolute * Exact(kernel.n * (kernel.n + terms) * 0x1p-104);
                CHECK((of_accurate <= of_plain || of_accurate <= least));
                CHECK(of_accurate <= least);
                ++segments;
                nearer += of_accurate < of_plain;
            }
        }
    }
    CHECK(some > static_cast<int>(cases.size()));
    CHECK(segments > 300);
    CHECK(nearer > segments / 3);
}
