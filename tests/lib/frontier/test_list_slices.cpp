// Slices of trees and of the sparse form, cut at random and searched for, in all numbers, against exact
// permanents.
#include "lib/base/archive.hpp"
#include "lib/base/threads.hpp"
#include "lib/frontier/branch_places.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/frontier/plan.hpp"
#include "lib/frontier/slices.hpp"
#include "lib/input/matrix.hpp"
#include "preprocess/branch_decomposition.hpp"
#include "preprocess/frontier_slices.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/branch_cases.hpp"
#include "tests/support/check.hpp"
#include "tests/support/plan_shards.hpp"
#include "tests/support/run.hpp"
#include "tests/support/wide_cases.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <perm.hpp>

#include <cmath>
#include <set>

using namespace libperm;
using namespace wide;
using branch_cases::Leaves;

namespace {

std::uint64_t test_seed() { return run::seed(0x6c697374); }

constexpr Leaves all_leaves[] = {Leaves::rows, Leaves::columns, Leaves::entries, Leaves::mixed};

// A program and the form that runs it.
struct Whole {
    FrontierProgram program;
    FrontierForm form;
};

Whole random_whole(const Case &c, int trial, Random &random) {
    if (trial % 2 == 0) return {c.program, FrontierForm::sparse};
    const BranchDecomposition tree =
        branch_cases::random_tree(c.block.pattern, all_leaves[trial / 2 % 4], random);
    return {build_branch_program(c.block.pattern, tree).program, FrontierForm::branches};
}

Case random_case(std::int64_t most, Entries kind, int trial, Random &random) {
    return make_case(random.integer(2, most), random.uniform(0.1, 0.7), kind, trial % 4 == 0, Order::searched,
                     random);
}

std::vector<SliceCut> cuts_of(const Whole &whole, const FrontierProgram &part, Random &random) {
    if (whole.form == FrontierForm::sparse)
        return path_cuts(part, static_cast<std::int32_t>(random.integer(0, std::ssize(part.steps) - 1)));
    return branch_cuts(part, static_cast<std::int32_t>(random.integer(0, part.source->tree.nodes() - 1)));
}

// Slices of any shape, down to `depth`; those that are dead are left out, and counted.
struct Cut {
    std::vector<FrontierSlice> slices;
    int dead = 0;
};
void cut_at_random(const Whole &whole, const FrontierSlice &slice, int depth, Random &random, Cut &to) {
    const FrontierProgram part = slice_of(whole.program, slice);
    const std::vector<SliceCut> cuts = cuts_of(whole, part, random);
    if (depth == 0 || cuts.empty()) {
        to.slices.push_back(slice);
        return;
    }
    const FixedLine fixed = cuts[at(random.integer(0, std::ssize(cuts) - 1))].fixed;
    for (const bool before : {true, false}) {
        FrontierSlice longer = slice;
        longer.push_back({fixed.cut, fixed.line, before});
        if (has_slice(whole.program, longer))
            cut_at_random(whole, longer, depth - 1, random, to);
        else
            ++to.dead;
    }
}

// The matrix without the entries that the program has not.
Rows matrix_of(const Case &c, const FrontierProgram &program) {
    std::set<std::int64_t> kept;
    for (const FrontierStep &step : program.steps)
        for (const FrontierTerm &t : step.terms) kept.insert(t.entry);
    // Of equal columns the program has the first one's entries.
    const Pattern &a = c.block.pattern;
    Rows rows = c.rows;
    for (std::int32_t i = 0; i < a.rows && !program.counts; ++i)
        for (std::int64_t e = a.row_begin(i); e < a.row_begin(i + 1); ++e)
            if (!kept.contains(e)) rows[at(i)][at(a.col[at(e)])] = {};
    return rows;
}

EngineResult run_slices(const FrontierInput &input, const Whole &whole,
                        const std::vector<FrontierSlice> &slices, int threads = 1,
                        std::int64_t most_bytes = std::int64_t{1} << 30) {
    MemoryBudget memory(most_bytes);
    const FrontierRun run{input, whole.program, memory, threads};
    const SliceWorkers workers{one_worker, [&](std::size_t, const FrontierProgram &slice) {
                                   return run_frontier(whole.form, run.of(slice));
                               }};
    return run_in_slices(run, slices, workers);
}

void check_bound(const Outcome &outcome, const oracle::Gaussian &truth) {
    REQUIRE(outcome.wide);
    REQUIRE(std::isfinite(outcome.error.mantissa));
    const oracle::Exact re = outcome.wide->re - truth.re, im = outcome.wide->im - truth.im,
                        error = exactly(outcome.error);
    CHECK(re * re + im * im <= error * error);
}

Block doubles_of(const Case &c) {
    Block block;
    block.pattern = c.block.pattern;
    for (const Gaussian &x : c.block.values) block.values.push_back(tracked(x.re.get_d()));
    return block;
}

SliceSearch search_for(const Whole &whole, double bytes) {
    SliceSearch search;
    search.ranked = false;
    search.most_slices = 50;
    search.most_bytes = bytes;
    search.needs = [form = whole.form](const FrontierProgram &program) -> SliceNeeds {
        const Cost cost = frontier_cost(program, form, false);
        return {cost.serial_seconds, cost.bytes};
    };
    return search;
}

bool is_same(const Outcome &x, const Outcome &y) {
    return x.value.mantissa == y.value.mantissa && x.value.exp2 == y.value.exp2 &&
           x.error.mantissa == y.error.mantissa && x.error.exp2 == y.error.exp2;
}

// As one of a plan that was saved.
bool is_accepted(const Whole &whole, const FrontierSlice &slice) {
    Candidate c;
    c.engine = Engine::frontier;
    c.form = number_of(whole.form);
    c.transposed = whole.program.transposed;
    c.plan = std::make_shared<const FrontierPlan>(whole.program);
    c.cut = cut_into({slice});
    try {
        check_frontier(c);
        return true;
    } catch (const DamagedField &) {
        return false;
    }
}

// Two full blocks with a few entries between them, and a tree that joins one's rows to the other's.
struct TwoBlocks {
    Block block;
    FrontierProgram program;
};
TwoBlocks two_blocks(std::int32_t n, Random &random) {
    TwoBlocks t;
    Pattern &a = t.block.pattern;
    a.rows = a.cols = 2 * n;
    BranchDecomposition tree;
    for (std::int32_t i = 0; i < 2 * n; ++i) {
        for (std::int32_t j = 0; j < 2 * n; ++j)
            if (i / n == j / n || (i + j == 2 * n - 1 && i * j == 0)) {
                a.col.push_back(j);
                t.block.values.push_back(tracked(random.uniform(-1, 1)));
            }
        a.row_ptr.push_back(std::ssize(a.col));
        tree.leaves.push_back({BranchLeaf::Kind::row, i, -1});
    }
    for (std::int32_t half = 0; half < 2; ++half)
        for (std::int32_t i = 1; i < n; ++i)
            tree.joins.push_back({i == 1 ? half * n : tree.nodes() - 1, half * n + i});
    tree.joins.push_back({2 * n + n - 2, tree.nodes() - 1});
    REQUIRE(is_decomposition(a, tree));
    t.program = build_branch_program(a, tree).program;
    return t;
}

} // namespace

TEST_CASE("list slices: lines fixed at random cuts leave parts that add up to the permanent") {
    Random random(test_seed());
    int compared = 0, dead = 0, of_counters = 0, on_trees = 0;
    for (int trial = 0; trial < run::cases(300); ++trial) {
        CAPTURE(trial);
        const auto kind = static_cast<Entries>(trial % static_cast<int>(Entries::all));
        const Case c = random_case(9, kind, trial, random);
        const Whole whole = random_whole(c, trial, random);
        Cut cut;
        cut_at_random(whole, {}, static_cast<int>(random.integer(1, 4)), random, cut);
        const oracle::Gaussian truth = c.permanent();
        if (!whole.program.counts) {
            oracle::Gaussian sum{};
            for (const FrontierSlice &slice : cut.slices)
                sum = sum + oracle::by_subsets(matrix_of(c, slice_of(whole.program, slice)));
            CHECK((sum.re == truth.re && sum.im == truth.im));
        }
        for (const Arithmetic arithmetic : arithmetics(kind)) {
            const WideEntries entries = wide_entries(c.block, arithmetic, true);
            if (cut.slices.empty()) continue; // all of them were dead
            check_bound(outcome_of(run_slices(entries, whole, cut.slices)), truth);
            compared += cut.slices.size() > 1;
        }
        dead += cut.dead;
        of_counters += whole.program.counts && cut.slices.size() > 1;
        on_trees += whole.form == FrontierForm::branches && cut.slices.size() > 1;
    }
    CHECK(compared > run::enough(300));
    CHECK(dead > run::enough(100));
    CHECK(of_counters > run::enough(10));
    CHECK(on_trees > run::enough(80));
}

TEST_CASE("list slices: doubles of far magnitudes, exponents of their own, and residues") {
    Random random(test_seed() + 1);
    int compared = 0;
    for (int trial = 0; trial < run::cases(200); ++trial) {
        CAPTURE(trial);
        const bool far = trial % 3 == 0;
        Case c = random_case(far ? 10 : 14, far ? Entries::far_signed : Entries::real, trial, random);
        if (!far) make_integer(c, 40);
        const Whole whole = random_whole(c, trial, random);
        Cut cut;
        cut_at_random(whole, {}, static_cast<int>(random.integer(1, 4)), random, cut);
        if (cut.slices.size() < 2) continue;
        if (far) {
            Block block = doubles_of(c);
            Rows rows = c.rows;
            for (auto &row : rows)
                for (Gaussian &x : row) x.re = x.re.get_d();
            const oracle::Exact permanent = oracle::by_subsets(rows).re;
            const oracle::Exact truth = times_power(permanent, permanent == 0 ? 0 : scale(block));
            const Outcome outcome = outcome_of(run_slices(block, whole, cut.slices));
            CHECK(abs(exactly(outcome.value) - truth) <= exactly(outcome.error));
        } else {
            const Residues residues =
                residues_of(c.block, primes_below(62, 1 + static_cast<std::size_t>(trial % 6)));
            CHECK(std::get<ResidueVector>(run_slices(residues, whole, cut.slices).value) ==
                  run_residues(residues, c.program, FrontierForm::sparse));
        }
        ++compared;
    }
    CHECK(compared > run::enough(100));
}

TEST_CASE("list slices: those that are found fit, live, and add up, with the same bits for any threads") {
    Random random(test_seed() + 2);
    int several = 0;
    for (int trial = 0; trial < run::cases(30); ++trial) {
        CAPTURE(trial);
        Case c = make_case(random.integer(8, 13), random.uniform(0.2, 0.5), Entries::real, trial % 4 == 0,
                           Order::searched, random);
        make_integer(c, 20);
        const Whole whole = random_whole(c, trial, random);
        const double all = frontier_cost(whole.program, whole.form, false).bytes;
        const double bytes = std::max(whole.form == FrontierForm::branches ? 4096.0 : 20000.0,
                                      all / std::exp2(random.uniform(1, 4)));
        const SliceSearch search = search_for(whole, bytes);
        const auto slices = find_slices(whole.program, search);
        if (slices.empty()) continue; // not by so much
        several += slices.size() > 1;
        for (const FrontierSlice &slice : slices) {
            CHECK(has_slice(whole.program, slice));
            CHECK(search.needs(slice_of(whole.program, slice)).bytes <= bytes);
        }
        const Cost cost = sliced_cost(whole.program, whole.form, slices, false);
        CHECK(cost.bytes <= bytes);
        const Block block = doubles_of(c);
        const Outcome one = outcome_of(run_slices(block, whole, slices));
        CHECK(abs(exactly(one.value) - c.permanent().re) <= exactly(one.error));
        CHECK(one.counts.states <= 1.0001 * cost.states);
        for (const int threads : {2, 8}) {
            Outcome more;
            with_threads(threads, [&] { more = outcome_of(run_slices(block, whole, slices, threads)); });
            CHECK(is_same(one, more));
        }
    }
    CHECK(several > run::enough(6));
}

TEST_CASE("list slices: what there is no such slice of") {
    Random random(test_seed() + 3);
    int refused = 0, taken = 0;
    for (int trial = 0; trial < run::cases(400); ++trial) {
        CAPTURE(trial);
        const Case c = random_case(8, Entries::real, trial, random);
        const Whole whole = random_whole(c, trial, random);
        const auto any = [&] { return static_cast<std::int32_t>(random.integer(-2, 40)); };
        FrontierSlice slice;
        for (std::int64_t k = random.integer(1, 3); k > 0; --k)
            slice.push_back({any(), any(), random.chance(0.5)});
        const bool is_there = has_slice(whole.program, slice);
        CHECK(is_accepted(whole, slice) == is_there);
        if (!is_there) {
            ++refused;
            continue;
        }
        ++taken; // then it can be run, and is a part
        for (const FrontierSlice &part : {slice, FrontierSlice(slice.begin(), slice.end() - 1)})
            (void)run_slices(doubles_of(c), whole, {part});
    }
    CHECK(refused > run::enough(200));
    CHECK(taken > 0);
}

TEST_CASE("list slices: a tree past the memory limit, in shards, saved and loaded") {
    const perm::Csr a = perm::families::divisors(64);
    perm_opts opts = with_engine("frontier");
    opts.precision = "exact";
    opts.device = "cpu";
    opts.cache_dir = "";
    const perm::Result whole = perm::compute(a, opts);
    CHECK(whole->exact == 1);
    opts.memory_limit_bytes = 3000000;
    const perm::Plan plan(a, opts);
    const auto json = explained(plan);
    REQUIRE(json.contains("slices"));
    const auto slices = json.at("slices").get<std::int64_t>();
    CHECK(slices > 2);
    CHECK(json.at("form") == "branches");
    CHECK(json.at("predicted_bytes").get<double>() <= static_cast<double>(opts.memory_limit_bytes));
    CHECK(plan.explain().find("branches sliced: " + std::to_string(slices) + " slices of up to ") !=
          std::string::npos);
    const std::string bytes = plan.save();
    const perm::Plan loaded = perm::Plan::load(bytes);
    CHECK(loaded.save() == bytes);
    const perm::Task task = perm::Task::plan(loaded, a.values.data());
    std::vector<std::string> partials = all_shards(task);
    REQUIRE(partials.size() > 2);
    std::reverse(partials.begin(), partials.end());
    const perm::Result sum = combined(task, partials), at_once = plan.execute(a.values.data());
    CHECK(std::string(sum->text) == whole->text);
    CHECK(std::string(at_once->text) == whole->text);
    CHECK(sum->slices == slices);
    CHECK(sum->peak_bytes <= opts.memory_limit_bytes);
}

TEST_CASE("branches: the walk holds about the least memory of all orders") {
    Random random(test_seed() + 5);
    constexpr double state = 16;
    int compared = 0, worse = 0;
    for (int trial = 0; trial < run::cases(300); ++trial) {
        CAPTURE(trial);
        const Case c = make_case(random.integer(6, 14), random.uniform(0.2, 0.6), Entries::nonnegative, false,
                                 Order::shuffled, random);
        const BranchDecomposition tree =
            branch_cases::random_tree(c.block.pattern, all_leaves[trial % 4], random);
        const FrontierProgram program = build_branch_program(c.block.pattern, tree).program;
        std::vector<std::size_t> joins;
        for (std::size_t b = 0; b < program.branches.size(); ++b)
            if (program.branches[b].joined[0] >= 0) joins.push_back(b);
        if (joins.empty() || joins.size() > 8) continue;
        const std::vector<BranchNeeds> needs = needs_of_branches(program, state);
        // Bit k of an order: the later branch of join k is walked first.
        const auto peak_of = [&](unsigned order) {
            double waiting = 0, peak = 0;
            const auto walk = [&](const auto &self, std::size_t b) -> void {
                auto [x, y] = program.branches[b].joined;
                if (x >= 0) {
                    if (x > y) std::swap(x, y);
                    const auto k = std::ranges::find(joins, b) - joins.begin();
                    if (order >> k & 1) std::swap(x, y);
                    self(self, at(x));
                    self(self, at(y));
                    waiting -= needs[at(x)].list + needs[at(y)].list;
                }
                peak = std::max(peak, waiting + needs[b].bytes);
                waiting += needs[b].list;
            };
            walk(walk, program.branches.size() - 1);
            return peak;
        };
        double least = peak_of(0);
        CHECK(least == doctest::Approx(branches_cost(program, true).bytes));
        for (unsigned order = 1; order < 1U << joins.size(); ++order) {
            const double other = peak_of(order);
            worse += other > 1.01 * least;
            least = std::min(least, other);
        }
        CHECK(peak_of(0) <= 1.15 * least);
        ++compared;
    }
    CHECK(compared > run::enough(30));
    CHECK(worse > run::enough(100));
}

TEST_CASE("branch forks: subtrees side by side where both fit and are worth it, with the same bits") {
    Random random(test_seed() + 4);
    const TwoBlocks t = two_blocks(run::sanitized ? 13 : 15, random);
    const double state = 24;
    const double whole = branches_cost(t.program, false).bytes;
    CHECK(t.program.branches.size() == 3);
    const BranchForks forks(t.program, state, 4 * whole, 2);
    const BranchFork *fork = forks.find(0, 2);
    CHECK(forks.find(0, 1) == nullptr);
    CHECK(BranchForks(t.program, state, 4 * whole, 1).find(0, 2) == nullptr);
    CHECK(BranchForks(t.program, state, whole / 2, 2).find(0, 2) == nullptr);
    if (!run::sanitized) {
        REQUIRE(fork);
        CHECK((fork->first == 0 && fork->middle == 1 && fork->join == 2));
    }
    const auto run = [&](int threads) {
        Budgets b;
        EngineResult result;
        with_threads(threads, [&] {
            result = run_frontier(FrontierForm::branches, {t.block, t.program, b.memory, threads});
        });
        return result;
    };
    const EngineResult one = run(1);
    for (const int threads : {2, 3, 8}) {
        const EngineResult more = run(threads);
        CHECK(is_same(outcome_of(one), outcome_of(more)));
        CHECK(one.counts.states == more.counts.states);
        CHECK(one.counts.operations == more.counts.operations);
        CHECK(one.counts.peak_states == more.counts.peak_states);
    }
}
