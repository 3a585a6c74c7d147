// NVRTC compiles what the generator writes: for every engine without a spilled register. Needs no GPU.
#include "bench/families.hpp"
#include "jit/compile/nvrtc.hpp"
#include "jit/kernel/subset_source.hpp"
#include "lib/subsets/plan.hpp"
#include "lib/subsets/tree_plan.hpp"
#include "preprocess/matching.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/ptxas.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

using namespace libperm;
namespace families = perm::families;

namespace {

constexpr SubsetEngine engines[] = {SubsetEngine::shared, SubsetEngine::dense, SubsetEngine::purereg,
                                    SubsetEngine::hybrid};

std::uint64_t test_seed() { return run::seed(0x6e7672); }

bool skipped() {
    const NvrtcStatus &status = nvrtc_status();
    if (!status.found) run::skip(status.why_not);
    return !status.found;
}

// sm_80, sm_90 and the newest, as far as this NVRTC has them.
std::vector<std::string> targets() {
    const std::vector<int> &known = nvrtc_status().architectures;
    std::vector<std::string> found;
    for (const int wanted : {80, 90, known.back()}) {
        const std::string target = "sm_" + std::to_string(wanted);
        if (std::find(known.begin(), known.end(), wanted) != known.end() &&
            std::find(found.begin(), found.end(), target) == found.end())
            found.push_back(target);
    }
    return found;
}

// Erdos and Renyi's, with a perfect matching.
Pattern sparse(std::int64_t n, double density, families::Random &random) {
    for (;;) {
        Pattern p = pattern_of(families::erdos_renyi(n, density, families::Entries::ones, random.bits()));
        if (maximum_matching(p).size == n) return p;
        density = std::min(1.0, density * 1.05);
    }
}

SubsetPlan plan_of(SubsetEngine engine, const Pattern &p, bool equal_chunks) {
    return plan_subsets(engine, p, transpose(p).pattern, equal_chunks);
}

void check_compiled(const SubsetPlan &plan, const std::string &target) {
    const SubsetKernel &kernel = plan.kernel;
    CAPTURE(std::string(subset_engine_name(kernel.engine)));
    CAPTURE(kernel.n);
    CAPTURE(kernel.k);
    CAPTURE(kernel.row.size());
    CAPTURE(kernel.unrolled);
    CAPTURE(kernel.equal_chunks);
    CAPTURE(target);
    REQUIRE(subsets_why_not(plan) == "");
    const Compiled compiled = compile(source_of(kernel), target, kernel_flags());
    CHECK(compiled.image.size() > 1000);
    CHECK(compiled.image.compare(1, 3, "ELF") == 0);
    const std::vector<PtxasReport> reports = read_ptxas(compiled.log);
    std::vector<std::string> entries{gray_entry, gather_entry};
    if (!kernel.equal_chunks) entries.insert(entries.end(), {select_entry, rest_entry});
    if (!kernel.equal_chunks && kernel.engine != SubsetEngine::tree) entries.emplace_back(accurate_entry);
    CHECK(reports.size() == entries.size());
    for (const std::string &entry : entries)
        CHECK(std::count_if(reports.begin(), reports.end(),
                            [&](const PtxasReport &r) { return r.kernel == entry; }) == 1);
    for (const PtxasReport &report : reports) {
        CAPTURE(report.kernel);
        CHECK(report.spill_stores == 0);
        CHECK(report.spill_loads == 0);
        // The row sums of perm_accurate are in each thread's own memory.
        CHECK(report.stack <= (report.kernel == accurate_entry ? 8 * (kernel.n + kernel.n % 2) : 0));
        CHECK(report.registers > 0);
        CHECK(report.registers <= 255);
        CHECK(report.registers * kernel.threads <= 65536); // of a multiprocessor
        const int in_registers = kernel.engine == SubsetEngine::shared   ? 0
                                 : kernel.engine == SubsetEngine::hybrid ? kernel.k
                                                                         : kernel.n;
        if (report.kernel == gray_entry) CHECK(report.registers >= 2 * in_registers);
    }
}

} // namespace

TEST_CASE("every engine compiles for every GPU, with all it holds in registers") {
    if (skipped()) return;
    families::Random random(test_seed());
    const std::vector<std::string> gpus = targets();
    REQUIRE(!gpus.empty());
    struct Size {
        std::int64_t n;
        double density;
    };
    std::size_t next = 0; // GPU, so that each engine meets each
    for (const Size size : {Size{8, 0.5}, {20, 0.2}, {40, 0.1}, {40, 0.3}, {48, 0.1}}) {
        const Pattern p = sparse(size.n, size.density, random);
        for (const SubsetEngine engine : engines) {
            check_compiled(plan_of(engine, p, next % 5 == 0), gpus[next % gpus.size()]);
            ++next;
        }
        ++next;
    }
    for (const std::int64_t n : {16, 40}) {
        const Pattern full = pattern_of(families::constant(n, 1));
        for (const SubsetEngine engine : engines)
            check_compiled(plan_of(engine, full, false), gpus[next++ % gpus.size()]);
    }
}

TEST_CASE("the smallest matrices compile") {
    if (skipped()) return;
    for (const std::int64_t n : {1, 2})
        for (const SubsetEngine engine : engines)
            check_compiled(plan_of(engine, pattern_of(families::constant(n, 1)), false), targets().front());
}

TEST_CASE("every engine in every arithmetic") {
    if (skipped()) return;
    families::Random random(test_seed() + 2);
    const Pattern medium = sparse(26, 0.2, random), small = sparse(16, 0.3, random);
    int compiled = 0, refused = 0;
    for (const Arithmetic a :
         {Arithmetic::complex, Arithmetic::dd, Arithmetic::complex_dd, Arithmetic::modular, Arithmetic::pair,
          Arithmetic::split, Arithmetic::two_grids, Arithmetic::complex_two_grids, Arithmetic::complex_split})
        for (const SubsetEngine engine : {SubsetEngine::tree, SubsetEngine::shared, SubsetEngine::dense,
                                          SubsetEngine::purereg, SubsetEngine::hybrid}) {
            if ((is_compensated(a) || has_two_grids(a)) && engine != SubsetEngine::tree) continue;
            CAPTURE(std::string(arithmetic_name(a)));
            CAPTURE(std::string(subset_engine_name(engine)));
            const SubsetPlan of_real =
                engine == SubsetEngine::tree
                    ? plan_tree(medium, transpose(medium).pattern, {random.bits(), 1e-3})
                    : plan_of(engine, small, false);
            const SubsetPlan plan = with_arithmetic(of_real, a);
            REQUIRE(subsets_why_not(plan) == "");
            const Compiled of_kernel = compile(source_of(plan.kernel), "sm_90", kernel_flags());
            const std::vector<PtxasReport> reports = read_ptxas(of_kernel.log);
            CHECK(reports.size() == (refines(plan.kernel) ? 4 : 2)); // with what chooses segments
            for (const PtxasReport &report : reports) {
                CHECK(report.registers <= 255);
                if (engine != SubsetEngine::tree) CHECK(report.spill_stores == 0);
            }
            ++compiled;
        }
    CHECK(compiled == 25);

    const Pattern large = pattern_of(families::constant(60, 1)), turned = transpose(large).pattern;
    for (const SubsetEngine engine : {SubsetEngine::dense, SubsetEngine::purereg}) {
        const SubsetPlan plan = plan_subsets(engine, large, turned, false);
        CHECK(subsets_why_not(with_arithmetic(plan, Arithmetic::modular)) == subsets_why_not(plan));
        for (const Arithmetic a : {Arithmetic::complex, Arithmetic::dd, Arithmetic::complex_dd})
            refused += !subsets_why_not(with_arithmetic(plan, a)).empty();
    }
    CHECK(refused == 6);
}

TEST_CASE("NVRTC is begun by several at once, and compiles meanwhile") {
    std::vector<std::thread> threads; // which do nothing where there is none
    for (int k = 0; k < 4; ++k) threads.emplace_back(begin_nvrtc);
    if (skipped()) {
        for (std::thread &thread : threads) thread.join();
        return;
    }
    const std::string newest = std::to_string(nvrtc_status().architectures.back());
    const std::string image =
        compile("extern \"C\" __global__ void named(int *x) { *x = 1; }", "sm_" + newest, {}).image;
    for (std::thread &thread : threads) thread.join();
    CHECK(image.find("named") != std::string::npos);
}

TEST_CASE("as PTX, for a driver to finish") {
    if (skipped()) return;
    families::Random random(test_seed() + 1);
    const SubsetPlan plan = plan_of(SubsetEngine::purereg, sparse(20, 0.3, random), false);
    const std::string newest = std::to_string(nvrtc_status().architectures.back());
    const Compiled compiled = compile(source_of(plan.kernel), "compute_" + newest, kernel_flags());
    CHECK(compiled.image.find(".target sm_" + newest) != std::string::npos);
    const auto place_of = [&](const char *entry) {
        std::string text = ".entry ";
        return compiled.image.find(text += entry);
    };
    CHECK(place_of(gather_entry) != std::string::npos);
    // Nothing was contracted; perm_accurate asks for it.
    const std::size_t from = place_of(gray_entry);
    REQUIRE(from != std::string::npos);
    const std::string gray = compiled.image.substr(from, compiled.image.find(".entry ", from + 1) - from);
    CHECK(gray.find("mul.rn.f64") != std::string::npos);
    CHECK(gray.find("fma.rn.f64") == std::string::npos);
}
