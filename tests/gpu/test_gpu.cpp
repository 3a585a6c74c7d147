// The engines on a GPU, through the C API, where there is one: what they answer. The program's other files
// are batches.cpp, kept_kernels.cpp and calls.cpp.
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/on_gpu.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shared_matrix.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace perm::families;
using oracle::Exact;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

void check_account(const perm_result &r, const char *engine, std::int64_t n) {
    if (std::string(r.engine) == "none") { // the entries that are not 0 have no perfect matching
        CHECK(std::string(r.text) == "0");
        return;
    }
    CHECK(std::string(r.engine) == engine);
    CHECK(std::string(r.device) == "gpu");
    CHECK(r.subsets == std::exp2(static_cast<double>(n - 1)));
    CHECK(r.seconds_compile >= 0);
    CHECK(r.peak_bytes > 0);
}

bool nonnegative(const std::vector<double> &values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return x >= 0; });
}

struct Kind {
    const char *name;
    Entries entries;
    double scale; // of rows, or its inverse
};

constexpr Kind kinds[] = {{"ones", Entries::ones, 1},
                          {"nonnegative", Entries::nonnegative, 1},
                          {"real", Entries::real, 1},
                          {"counts", Entries::counts, 1},
                          {"integers", Entries::integers, 1},
                          {"nonnegative, scaled", Entries::nonnegative, 1e150},
                          {"real, scaled", Entries::real, 1e150}};

std::vector<double> values_of(const Kind &kind, const perm::Csr &a, Random &random) {
    std::vector<double> values = random_values(a, kind.entries, random);
    for (std::size_t i = 0; i + 1 < a.row_ptr.size(); ++i) {
        const double factor = random.chance(0.5) ? kind.scale : 1 / kind.scale;
        for (auto k = at(a.row_ptr[i]); k < at(a.row_ptr[i + 1]); ++k) values[k] *= factor;
    }
    return values;
}

struct Tally {
    int compared = 0, exact = 0, informative = 0;

    void book(const perm_result &r) {
        ++compared;
        exact += r.exact;
        informative += r.rel_error_bound < 1;
    }
};

// One kernel for each engine, values of every kind.
void try_pattern(const perm::Csr &a, const char *chunks, Random &random, Tally &tally) {
    const std::int64_t n = a.n_rows;
    CAPTURE(describe(a));
    std::vector<perm::Plan> plans;
    std::vector<const char *> names;
    for (const char *engine : gpu_engines) {
        if (!has_chunks(engine, chunks)) continue;
        plans.push_back(plan_of_pattern(a, on_gpu(engine, chunks)));
        names.push_back(engine);
    }
    for (const Kind &kind : kinds) {
        CAPTURE(std::string(kind.name));
        const perm::Csr b = with_values(a, values_of(kind, a, random));
        Exact truth;
        perm::Result ryser, frontier;
        if (n <= 12) {
            truth = oracle::by_frontier(b);
        } else {
            ryser = perm::compute(b, with_engine("ryser"));
            frontier = perm::compute(b, with_engine("frontier"));
        }
        for (std::size_t e = 0; e < plans.size(); ++e) {
            CAPTURE(std::string(names[e]));
            perm::Result r = plans[e].execute(b.values.data());
            tally.book(*r.raw());
            check_account(*r.raw(), names[e], n);
            if (n <= 12) {
                check_result(*r.raw(), truth);
                if (n <= 6 && b.values == std::vector<double>(b.values.size(), 1.0)) CHECK(r->exact == 1);
            } else {
                check_agree(*r.raw(), *ryser.raw());
                check_agree(*r.raw(), *frontier.raw());
                if (nonnegative(b.values)) CHECK(relative_difference(*r.raw(), *frontier.raw()) <= 1e-11);
            }
        }
    }
}

} // namespace

TEST_CASE("GPU: orders 0, 1, 2, 3") {
    if (!gpu()) return;
    for (const char *engine : gpu_engines)
        for (const char *chunks : {"ceg", "equal"}) {
            if (!has_chunks(engine, chunks)) continue;
            CAPTURE(std::string(engine));
            CAPTURE(std::string(chunks));
            const perm_opts opts = on_gpu(engine, chunks);
            CHECK(perm::compute(counting(0), opts).text() == "1");
            CHECK(perm::compute(constant(1, -7), opts).text() == "-7");
            CHECK(perm::compute(constant(1, 0.375), opts).value() == 0.375);
            CHECK(perm::compute(counting(2), opts).text() == "10");
            CHECK(perm::compute(ones_and_diagonal(2, 0, 3), opts).text() == "9");
            CHECK(perm::compute(counting(3), opts).text() == "450");
            CHECK(perm::compute(from_dense({{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}), opts).text() == "1");
            CHECK(perm::compute(from_dense({{1, 1, 0}, {1, 1, 0}, {1, 1, 0}}), opts).text() == "0");
        }
}

TEST_CASE("GPU: every engine, values of every kind, against exact ones up to 12, CPU engines up to 22") {
    if (!gpu()) return;
    Random random(run::seed(0x677001));
    Tally tally;
    for (int repeat = 0; repeat < run::multiplier(); ++repeat)
        for (std::int64_t n = 1; n <= 22; ++n) try_pattern(random_matrix(n, random), "ceg", random, tally);
    CHECK(tally.exact > tally.compared / 8);
    CHECK(tally.informative > tally.compared / 2);
}

TEST_CASE("GPU: equal chunks, values of every kind") {
    if (!gpu()) return;
    Random random(run::seed(0x677002));
    Tally tally;
    for (int repeat = 0; repeat < run::multiplier(); ++repeat)
        for (const std::int64_t n : {2, 5, 8, 11, 12, 17, 22})
            try_pattern(random_matrix(n, random), "equal", random, tally);
    CHECK(tally.informative > tally.compared / 2);
}

TEST_CASE("GPU: families") {
    if (!gpu()) return;
    const std::uint64_t seed = run::seed(0x677003);
    const std::vector<std::pair<perm::Csr, std::string>> known{
        {hadamard(8), "384"},           {hadamard(16), "50692096"},
        {gcds(12), "1327833590272"},    {minima(12), "3168847554832961"},
        {hessenberg(20), "524288"},     {fano(), "24"},
        {aztec_diamond(4), "1024"},     {tridiagonal(24, 1, 1, 1), "75025"},
        {circulant(9, {0, 1, 2}), "78"}};
    for (const char *engine : gpu_engines) {
        CAPTURE(std::string(engine));
        for (const auto &[a, permanent] : known) {
            CAPTURE(permanent);
            check_result(*perm::compute(a, on_gpu(engine)).raw(), Exact(permanent));
        }
        for (const perm::Csr &a :
             {mesh2d(4, 5, Entries::real, seed), mesh3d(3, 3, 2, Entries::nonnegative, seed),
              power_network(21, Entries::nonnegative, seed), process(20, Entries::real, seed),
              degree_chains(20, 6, Entries::counts, seed), hypercube(5)})
            check_agree(*perm::compute(a, on_gpu(engine)).raw(),
                        *perm::compute(a, with_engine("frontier")).raw());
    }
    // With all reductions, blocks of several sizes.
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = "gpu";
    opts.cache_dir = "";
    for (const Entries entries : {Entries::real, Entries::nonnegative}) {
        const perm::Csr a = chain_of_blocks(6, 9, 0.6, entries, seed);
        perm::Result r = perm::compute(a, opts);
        check_agree(*r.raw(), *perm::compute(a).raw());
        CHECK(std::string(r->device) == "gpu");
    }
}

TEST_CASE("GPU: tree has the bits that it has on a CPU") {
    if (!gpu()) return;
    Random random(run::seed(0x67700d));
    std::vector<perm::Csr> matrices{constant(20, 1), tridiagonal(44, 1, 2, 3), hypercube(5)};
    for (int repeat = 0; repeat < run::multiplier(); ++repeat)
        for (const Entries entries : {Entries::real, Entries::nonnegative, Entries::integers}) {
            for (const std::int64_t n : {1, 2, 5, 9, 13, 18}) matrices.push_back(random_matrix(n, random));
            matrices.push_back(erdos_renyi(27, 0.3, entries, random.bits()));
            matrices.push_back(permutation_plus(32, 2, entries, random.bits()));
            matrices.push_back(mesh2d(5, 6, entries, random.bits()));
            matrices.push_back(arrow(24, entries, random.bits()));
        }
    int compared = 0;
    for (std::size_t k = 0; k < 2 * matrices.size(); ++k) {
        const perm::Csr &a = matrices[k / 2];
        CAPTURE(describe(a));
        perm_opts opts = on_gpu("tree");
        opts.precision = k % 2 == 0 ? "double" : "dd"; // a second run may be another plan's on each
        perm::Result there = perm::compute(a, opts);
        opts.device = "cpu";
        perm::Result here = perm::compute(a, opts);
        CHECK(here->mantissa_re == there->mantissa_re);
        CHECK(here->exp2 == there->exp2);
        CHECK(std::string(here->text) == there->text);
        CHECK(here->exact == there->exact);
        CHECK(here->subsets == there->subsets);
        CHECK(here->transposed == there->transposed);
        if (std::isfinite(here->rel_error_bound)) CHECK(here->rel_error_bound == there->rel_error_bound);
        if (std::string(here->engine) == "none") continue;
        CHECK(std::string(here->device) == "cpu");
        CHECK(std::string(there->device) == "gpu");
        ++compared;
    }
    CHECK(compared > std::ssize(matrices));
}

TEST_CASE("GPU: two subsets at once against one at a time on a CPU") {
    if (!gpu()) return;
    Random random(run::seed(0x677074));
    int others = 0;
    for (const Entries entries : {Entries::ones, Entries::nonnegative, Entries::counts})
        for (const std::int64_t n : {30, 31}) {
            const perm::Csr a = erdos_renyi(n, entries == Entries::ones ? 0.9 : 1, entries, random.bits());
            perm_opts opts = on_gpu("tree");
            perm::Result there = perm::compute(a, opts);
            opts.device = "gpu:all+cpu"; // the same plan
            perm::Result both = perm::compute(a, opts);
            CHECK(std::string(both->text) == there->text);
            CHECK(both->rel_error_bound == there->rel_error_bound);
            opts.device = "cpu";
            perm::Result here = perm::compute(a, opts);
            check_agree(*there.raw(), *here.raw());
            CHECK(there->rel_error_bound <= 1e-9);
            others += there->mantissa_re != here->mantissa_re;
        }
    CHECK(others > 0);
}

TEST_CASE("GPU: orders 26 to 30 against the frontier") {
    if (!gpu()) return;
    Random random(run::seed(0x677004));
    for (int repeat = 0; repeat < run::multiplier(); ++repeat)
        for (std::int64_t n = 26; n <= 30; ++n)
            for (const Entries entries : {Entries::nonnegative, Entries::real, Entries::counts}) {
                const perm::Csr a = erdos_renyi(n, 0.25, entries, random.bits());
                perm::Result right = perm::compute(a, with_engine("frontier"));
                for (const char *engine : gpu_engines) {
                    CAPTURE(n);
                    CAPTURE(std::string(engine));
                    perm::Result r = perm::compute(a, on_gpu(engine));
                    check_account(*r.raw(), engine, n);
                    check_agree(*r.raw(), *right.raw());
                    if (nonnegative(a.values)) {
                        CHECK(relative_difference(*r.raw(), *right.raw()) <= 1e-11);
                        CHECK(informative(*r.raw()));
                    }
                }
            }
}

TEST_CASE("GPU: the literature's random matrices against the frontier") {
    if (!gpu()) return;
    for (const char *name : {"er40_10", "er40_20", "er45_10"}) {
        perm::Csr a;
        if (!shared_matrix(name, a)) continue;
        CAPTURE(std::string(name));
        perm::Result right = perm::compute(a, with_engine("frontier"));
        for (const char *engine : gpu_engines)
            for (const bool reduced : {true, false}) {
                CAPTURE(std::string(engine));
                CAPTURE(reduced);
                perm_opts opts = on_gpu(engine);
                if (reduced) opts.without = nullptr;
                opts.time_limit_seconds = run::cases(20);
                try {
                    perm::Result r = perm::compute(a, opts);
                    check_agree(*r.raw(), *right.raw());
                    // Where the tolerance is out of reach, nothing is summed again.
                    const double most = r->rel_error_bound <= 1e-9 ? 1e-11 : 1e-9;
                    CHECK(relative_difference(*r.raw(), *right.raw()) <= most);
                } catch (const perm::Error &error) {
                    if (error.status() != PERM_REFUSED_TIME) throw;
                    run::skip(std::string(name) + (reduced ? ", " : " without reductions, ") + engine + ": " +
                              error.what());
                }
            }
    }
}

TEST_CASE("GPU: large joins of branches against the processor's") {
    if (!gpu()) return;
    for (const perm::Csr &a : {divisors(100), process(300, Entries::real, 2)}) {
        perm_opts opts = with_engine("frontier");
        perm::Result right = perm::compute(a, opts);
        opts.device = "gpu";
        perm::Result r = perm::compute(a, opts);
        CHECK(std::string(r->device) == "gpu");
        check_agree(*r.raw(), *right.raw());
    }
}

TEST_CASE("GPU: other values of one plan need no other kernel") {
    if (!gpu()) return;
    Random random(run::seed(0x677005));
    for (const char *engine : gpu_engines) {
        CAPTURE(std::string(engine));
        const perm::Csr a = erdos_renyi(11, 0.55, Entries::ones, random.bits());
        const perm::Plan plan = plan_of_pattern(a, on_gpu(engine));
        for (int call = 0; call < 8; ++call) {
            const perm::Csr b = with_values(a, values_of(kinds[call % 7], a, random));
            perm::Result r = plan.execute(b.values.data());
            if (call > 0) CHECK(r->kernels_compiled == 0);
            check_result(*r.raw(), oracle::by_frontier(b));
            // Nor does another plan of the pattern.
            perm::Result again = plan_of_pattern(a, on_gpu(engine)).execute(b.values.data());
            CHECK(again->kernels_compiled == 0);
            check_same_bits(*r.raw(), *again.raw());
        }
    }
}
