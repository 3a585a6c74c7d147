// The tree engine's kernels as they are printed: compiled for the host they give the bits of the CPU's
// interpreter, compiled by NVRTC they have the program's instructions; and three of them word for word.
#include "jit/compile/nvrtc.hpp"
#include "jit/kernel/leaf.hpp"
#include "jit/kernel/subset_source.hpp"
#include "jit/kernel/tree.hpp"
#include "jit/lanes/tree_walk.hpp"
#include "lib/run/call.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/subset_sum.hpp"
#include "tests/support/ptxas.hpp"
#include "tests/support/run.hpp"
#include "tests/support/segment_watch.hpp"
#include "tests/support/subset_cases.hpp"
#include "tests/support/traffic.hpp"
#include "tests/support/trees.hpp"
#include "tests/support/walked.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

using namespace libperm;
using perm::families::Entries;
using trees::at;
using trees::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x746b726e); }

// ---------------------------------------------------------------- on the host

struct Case {
    SubsetPlan plan;
    Block block; // A or A^T, as the plan has it
};

Case any_case(std::int64_t n, bool as_planned, Random &random) {
    const perm::Csr a = trees::matrix(n, static_cast<Entries>(random.integer(0, 4)), random);
    Case it{{}, trees::block_of(a)};
    it.plan = as_planned ? trees::planned(it.block.pattern, random.bits())
                         : trees::any_plan(it.block.pattern, 4, random);
    if (it.plan.transposed) it.block = transposed(it.block);
    return it;
}

bool same(const Partial3 &x, const Partial3 &y) {
    return std::bit_cast<std::array<std::uint64_t, 3>>(x) == std::bit_cast<std::array<std::uint64_t, 3>>(y);
}

void count_shapes(const TreePart &part, int depth, int &parts, int &loops) {
    parts += part.parts.size() > 1;
    loops += depth > 0 && part.loop < part.end;
    for (const TreePart &p : part.parts) count_shapes(p, depth + 1, parts, loops);
}

// ---------------------------------------------------------------- by NVRTC

bool skipped() {
    const NvrtcStatus &status = nvrtc_status();
    if (!status.found) run::skip(status.why_not);
    return !status.found;
}

struct Operations {
    int sums = 0, products = 0, fused = 0, restored = 0; // restored: of the sums
};

void count(const Tree &tree, const TreePart &part, Operations &of) {
    for (const TreePart &p : part.parts) count(tree, p, of);
    for (const Instruction &i : part.leaf.code) {
        of.products += i.op == Op::multiply || i.op == Op::multiply_absolute;
        of.fused += i.op == Op::nmadd || i.op == Op::madd_absolute;
        of.sums += i.op == Op::add || i.op == Op::subtract || i.op == Op::add_absolute;
    }
    const auto restored = static_cast<int>(row_sums_of(tree, part.leaf).restored.size());
    of.restored += restored;
    of.sums += restored;
}

Operations of_programs(const SubsetKernel &kernel) {
    Operations all;
    count(kernel.tree, kernel.tree.root, all);
    return all;
}

Operations of_ptx(const SubsetKernel &kernel) {
    const std::string ptx = compile(source_of(kernel), "compute_90", kernel_flags()).image;
    const std::size_t from = ptx.find(std::string(".entry ") + gray_entry);
    REQUIRE(from != std::string::npos);
    const std::string entry = ptx.substr(from, ptx.find(".entry ", from + 1) - from);
    Operations all;
    std::istringstream words(entry); // the instruction is a word of its own
    for (std::string word; words >> word;) {
        if (!word.ends_with(".f64")) continue;
        const std::string op = word.substr(0, word.find('.'));
        if (op == "mul")
            ++all.products;
        else if (op == "fma")
            ++all.fused;
        else if (op == "add" || op == "sub")
            ++all.sums;
    }
    return all;
}

// The same walk, with a leaf that does no more than read its rows: what `part` does instead of its program.
void read_only(const Tree &tree, TreePart &part) {
    for (TreePart &p : part.parts) read_only(tree, p);
    if (part.leaf.outputs.empty()) return;
    const std::set<std::int32_t> rows(tree.row.begin() + tree.column_ptr[at(part.begin)],
                                      tree.row.begin() + tree.column_ptr[at(part.loop)]);
    ProgramBuilder builder(tree.n);
    std::int32_t sum = *rows.begin(), absolute = builder.add_absolute(sum, sum);
    for (auto row = std::next(rows.begin()); row != rows.end(); ++row) {
        sum = builder.subtract(sum, *row);
        absolute = builder.add_absolute(absolute, *row);
    }
    part.leaf = std::move(builder).finish({sum, absolute}, part.leaf.constants);
}

bool fits(const StraightLine &leaf, std::int32_t registers) {
    const Traffic traffic = traffic_of(leaf, registers);
    return traffic.loads == 0 && traffic.stores == 0 && traffic.repeated == 0;
}

// ---------------------------------------------------------------- word for word

struct Golden {
    std::string name;
    SubsetKernel kernel;
};

SubsetKernel kernel_of(const perm::families::Dense &a, const std::vector<std::int32_t> &place,
                       const TreePart &root, std::int32_t segment_bits) {
    return trees::plan_with(trees::block_of(perm::families::from_dense(a)).pattern, place, root, segment_bits)
        .kernel;
}

TreePart part(std::int32_t begin, std::int32_t loop, std::int32_t end, std::vector<TreePart> parts = {}) {
    TreePart it;
    it.begin = begin;
    it.loop = loop;
    it.end = end;
    it.parts = std::move(parts);
    return it;
}

std::vector<Golden> golden_kernels() {
    return {
        {"tree_dense",
         kernel_of(perm::families::Dense(4, std::vector<double>(4, 1)), {0, 1, 2, 3}, part(0, 2, 3), 3)},
        // The example of jit/README.md.
        {"tree_sparse", kernel_of({{1, 1, 0, 0, 1, 0},
                                   {0, 0, 1, 0, 0, 1},
                                   {1, 0, 0, 1, 1, 0},
                                   {1, 1, 0, 0, 1, 0},
                                   {0, 1, 1, 0, 0, 0},
                                   {1, 0, 0, 1, 1, 0}},
                                  {5, 2, 1, 0, 3, 4}, part(0, 3, 5), 4)},
        // Two columns fixed, there are two parts; one of them is looped over.
        {"tree_parts", kernel_of({{1, 1, 0, 0, 0, 1, 0},
                                  {1, 1, 0, 0, 0, 0, 1},
                                  {0, 0, 1, 1, 0, 1, 0},
                                  {0, 0, 0, 1, 1, 0, 1},
                                  {0, 0, 1, 0, 1, 0, 0},
                                  {0, 1, 0, 0, 0, 1, 1},
                                  {0, 0, 0, 0, 1, 1, 1}},
                                 {0, 1, 2, 3, 4, 5, 6}, part(0, 5, 6, {part(0, 2, 2), part(2, 4, 5)}), 5)}};
}

std::string own_part(const std::string &source) {
    const std::string mark = "// ---- This kernel";
    const std::size_t where = source.find(mark);
    REQUIRE(where != std::string::npos);
    return source.substr(where);
}

} // namespace

TEST_CASE("on the host, kernels give the bits of the interpreter") {
    Random random(test_seed());
    std::vector<Case> cases;
    for (int k = 0; k < 32 * run::multiplier(); ++k)
        cases.push_back(any_case(k < 6 ? k + 1 : random.integer(8, 12), k % 4 == 0, random));
    std::vector<KernelRecipe> recipes;
    int parts = 0, loops = 0, in_full = 0; // columns with zeros among their rows
    for (const Case &c : cases) {
        const SubsetKernel &kernel = c.plan.kernel;
        recipes.push_back(subsets_kernel(kernel));
        count_shapes(kernel.tree.root, 0, parts, loops);
        for (std::int32_t j = kernel.segment_bits; j + 1 < kernel.n; ++j)
            in_full += kernel.column_ptr[at(j + 1)] - kernel.column_ptr[at(j)] < kernel.n;
    }
    CHECK(parts > 0);
    CHECK(loops > 0);
    CHECK(in_full > 0);
    HostQueue queue;
    if (!subset_cases::compiled(queue, recipes)) return;
    std::uint64_t compared = 0, long_chunks = 0;
    std::set<std::int32_t> segment_bits;
    std::size_t chosen = 0;
    for (std::size_t k = 0; k < cases.size(); ++k) {
        CAPTURE(k);
        const auto &[plan, block] = cases[k];
        const SubsetKernel &kernel = plan.kernel;
        const FixedPointDouble values(plan, block);
        const TreeWalk walk(kernel.tree, values.numbers());
        queue.load(recipes[k]);
        const std::uint64_t segments = std::uint64_t{1} << (kernel.n - 1 - kernel.segment_bits);
        segment_bits.insert(kernel.segment_bits);
        for (int repeat = 0; repeat < 4; ++repeat) {
            const std::uint64_t end =
                repeat < 2 ? segments : at(random.integer(1, static_cast<std::int64_t>(segments)));
            const std::uint64_t first =
                repeat < 2 ? 0 : at(random.integer(0, static_cast<std::int64_t>(end) - 1));
            const std::uint64_t length = repeat == 0 ? 1 : at(random.integer(2, 12));
            const std::vector<Partial3> printed =
                walked<number::Real<double>>(queue, plan, values.numbers(), {first, end, length, first});
            std::vector<Partial3> interpreted(printed.size());
            for (std::size_t s = 0; s < interpreted.size(); s += TreeWalk::lanes)
                walk.run(first + s,
                         std::span(interpreted)
                             .subspan(s, std::min<std::size_t>(TreeWalk::lanes, interpreted.size() - s)));
            CHECK(std::equal(printed.begin(), printed.end(), interpreted.begin(), same));
            compared += printed.size();
            if (length > 1) long_chunks += printed.size() / length;
        }

        const subset_cases::Played played = subset_cases::any_device(plan, random);
        queue.device = played.device;
        const SegmentWatch watch(queue, random.bits());
        const Outcome on_host = subset_cases::run_on(queue, plan, block, played.seconds);
        CHECK(queue.is_whole());
        chosen += watch.chosen().size();
        const Outcome on_cpu = outcome_of(run_subset_sum(plan, block, {{}, true}));
        CHECK(on_host.value.mantissa == on_cpu.value.mantissa);
        CHECK(on_host.value.exp2 == on_cpu.value.exp2);
        CHECK(on_host.error.mantissa == on_cpu.error.mantissa);
        CHECK(on_host.error.exp2 == on_cpu.error.exp2);
        CHECK(on_host.rel_error_bound == on_cpu.rel_error_bound);
    }
    CHECK(compared > 10 * cases.size());
    CHECK(long_chunks > run::enough(20));
    CHECK(static_cast<int>(segment_bits.size()) > run::enough(3));
    CHECK(chosen > 0);
}

TEST_CASE("kernels have the arithmetic of their programs, and nothing more") {
    // Of a kernel and of one with the same walk whose leaves only read their rows: double-precision sums,
    // products and fused ones in perm_gray's PTX, less those of the programs, are the same. So all else,
    // which is the walk's, does not depend on the programs, and each instruction of these is there once. But
    // a sum from which a row sum is restored may be made again for that.
    if (skipped()) return;
    Random random(test_seed() + 1);
    int compared = 0, parts = 0, loops = 0, instructions = 0;
    std::vector<SubsetKernel> kernels;
    for (const Golden &golden : golden_kernels()) kernels.push_back(golden.kernel);
    for (int k = 0; k < run::cases(9); ++k)
        kernels.push_back(any_case(k == 0 ? 2 : random.integer(5, 18), k % 3 > 0, random).plan.kernel);
    for (const SubsetKernel &kernel : kernels) {
        CAPTURE(shape_text(kernel.tree.root));
        count_shapes(kernel.tree.root, 0, parts, loops);
        SubsetKernel walk = kernel;
        read_only(walk.tree, walk.tree.root);
        const Operations all = of_ptx(kernel), program = of_programs(kernel), other = of_ptx(walk),
                         reading = of_programs(walk);
        const int again = all.sums - program.sums - (other.sums - reading.sums);
        CHECK(again >= 0);
        CHECK(again <= program.restored);
        CHECK(all.products - program.products == other.products - reading.products);
        CHECK(all.fused - program.fused == other.fused - reading.fused);
        CHECK(program.products + program.fused + program.sums - program.restored == leaf_code(kernel.tree));
        instructions += static_cast<int>(leaf_code(kernel.tree));
        ++compared;
    }
    CHECK(parts > 0);
    CHECK(loops > 0);
    CHECK(instructions > 10 * compared);
}

TEST_CASE("short programs that fit the registers by their count are not spilled") {
    if (skipped()) return;
    const std::vector<int> &known = nvrtc_status().architectures;
    if (std::ranges::find(known, 90) == known.end()) return run::skip("this NVRTC does not know sm_90");
    Random random(test_seed() + 2);
    int compiled = 0;
    for (int k = 0; compiled < run::cases(4) && k < run::cases(400); ++k) {
        const SubsetKernel kernel = any_case(random.integer(12, 36), true, random).plan.kernel;
        // Of longer ones, and of several leaves side by side, ptxas spills some bytes whatever they need.
        if (leaf_code(kernel.tree) < 100 || leaf_code(kernel.tree) > 400) continue;
        const TreePart &root = kernel.tree.root;
        const std::int32_t in_walk = kernel.segment_bits - root.loop + 1; // products that it keeps
        if (!root.parts.empty() || !fits(root.leaf, 100 - kernel.n - in_walk)) continue;
        CAPTURE(kernel.n);
        CAPTURE(kernel.segment_bits);
        CAPTURE(shape_text(root));
        CAPTURE(leaf_code(kernel.tree));
        for (const PtxasReport &report : read_ptxas(compile(source_of(kernel), "sm_90", kernel_flags()).log))
            if (report.kernel == gray_entry) {
                CHECK(report.spill_stores == 0);
                CHECK(report.spill_loads == 0);
                CHECK(report.stack == 0);
                CHECK(report.registers >= 2 * kernel.n);
                ++compiled;
            }
    }
    CHECK(compiled >= run::enough(4));
}

TEST_CASE("three kernels, word for word") {
    const std::filesystem::path folder = std::filesystem::path(PERM_TEST_SOURCE_DIR) / "golden";
    const bool renew = std::getenv("PERM_TEST_RENEW_GOLDEN") != nullptr;
    for (const Golden &golden : golden_kernels()) {
        const std::filesystem::path path = folder / (golden.name + ".cu");
        const std::string text = own_part(source_of(golden.kernel));
        if (renew) std::ofstream(path) << text;
        std::ostringstream kept;
        kept << std::ifstream(path).rdbuf();
        if (kept.str() == text) continue;
        std::istringstream is(text), should(kept.str());
        std::string line, other;
        int number = 1;
        while (std::getline(is, line) && std::getline(should, other) && line == other) ++number;
        FAIL_CHECK(path.string() << " is another kernel from its line " << number << " on:\n  kept: " << other
                                 << "\n  now:  " << line
                                 << "\nIf that is meant, run PERM_TEST_RENEW_GOLDEN=1 test_tree_kernels "
                                    "and look at the difference.");
    }
    CHECK(golden_kernels().size() == 3);
}
