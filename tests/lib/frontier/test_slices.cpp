// Past memory: frontier programs cut into slices, against exact permanents.
#include "bench/families.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/frontier/slices.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/results.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/polled.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace libperm;
using namespace perm::families;
using oracle::Exact;

namespace {

std::uint64_t test_seed() { return run::seed(0x736c6963); }

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

struct Prepared {
    Block block; // scaled
    std::int64_t exp2 = 0;
    FrontierProgram program;
};

Prepared prepare(const perm::Csr &matrix, std::uint64_t order_seed = 0) {
    const perm_csr view = matrix.view();
    const InputPattern input = read_pattern(&view);
    Prepared p;
    p.block.pattern = input.pattern;
    for (const double x : read_values(input, view.values).real) p.block.values.push_back(tracked(x));
    p.exp2 = scale(p.block);
    const auto sides = frontier_sides(input.pattern, {});
    FrontierOrderOptions options;
    options.seed = order_seed;
    const FrontierOrder order = find_frontier_order(sides, options);
    p.program = build_frontier_program(sides[order.transposed ? 1 : 0], order);
    return p;
}

// The matrix without the entries that the program has not, of ones or with the values.
perm::Csr matrix_of(const Prepared &p, const FrontierProgram &program, bool ones) {
    std::set<std::int64_t> kept;
    for (const FrontierStep &step : program.steps)
        for (const FrontierTerm &t : step.terms) kept.insert(t.entry);
    const Pattern &a = p.block.pattern;
    perm::Csr matrix;
    matrix.n_rows = matrix.n_cols = a.rows;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k)
            if (kept.contains(k)) {
                matrix.col_idx.push_back(a.col[at(k)]);
                const Tracked &x = p.block.values[at(k)];
                matrix.values.push_back(ones ? 1 : std::ldexp(x.value, static_cast<int>(x.exp2)));
            }
        matrix.row_ptr.push_back(std::ssize(matrix.col_idx));
    }
    return matrix;
}

Exact permanent_of(const Prepared &p, const FrontierProgram &program) {
    return oracle::by_frontier(matrix_of(p, program, false));
}

bool is_dead(const Prepared &p, const FrontierProgram &program) {
    return oracle::by_frontier(matrix_of(p, program, true)) == 0;
}

// Everything frontier_steps.hpp says of a program without counters, and that it is a part of the whole.
void check_program(const Prepared &p, const FrontierProgram &program, const FrontierProgram &whole) {
    REQUIRE(program.steps.size() == whole.steps.size());
    CHECK(program.slots == whole.slots);
    CHECK(program.transposed == whole.transposed);
    std::map<std::int32_t, std::int32_t> column_in; // by slot
    std::set<std::int32_t> met;
    std::int32_t used = 0;
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
        const FrontierStep &step = program.steps[s], &of_whole = whole.steps[s];
        CHECK(step.width_before == std::ssize(column_in));
        CHECK(step.used_before == used);
        std::set<std::int32_t> closing;
        for (const FrontierTerm &t : step.terms) {
            const auto same = std::ranges::find(of_whole.terms, t.entry, &FrontierTerm::entry);
            REQUIRE(same != of_whole.terms.end());
            CHECK(t.slot == same->slot);
            CHECK(t.least == (t.closes ? 1 : 0));
            const Pattern &a = p.block.pattern;
            const auto row = std::ranges::upper_bound(a.row_ptr, t.entry) - a.row_ptr.begin() - 1;
            const auto column =
                program.transposed ? static_cast<std::int32_t>(row) : a.col[at(t.entry)]; // of A^T: a row
            CHECK(t.opens == met.insert(column).second);
            if (t.opens) CHECK(column_in.emplace(t.slot, column).second);
            CHECK(column_in.at(t.slot) == column);
            if (t.closes) closing.insert(t.slot);
        }
        for (const std::int32_t slot : closing) column_in.erase(slot);
        used += 1 - static_cast<std::int32_t>(closing.size());
        CHECK(step.width_after == std::ssize(column_in));
        CHECK(step.used_after == used);
        CHECK(step.states_bound <= of_whole.states_bound);
        CHECK(step.expansions_bound <= of_whole.expansions_bound);
    }
    CHECK(column_in.empty());
}

EngineResult run_dense(const Prepared &p, const FrontierProgram &program,
                       std::int64_t memory_limit = std::int64_t{1} << 30, int threads = 2) {
    MemoryBudget memory(memory_limit);
    EngineResult result;
    with_threads(threads, [&] {
        result = run_frontier(FrontierForm::dense, {p.block, program, memory, threads});
    });
    result.counts.peak_bytes = memory.peak();
    return result;
}

void check_outcome(const Outcome &outcome, const Exact &truth) {
    REQUIRE(std::isfinite(outcome.error.mantissa));
    CHECK(abs(exactly(outcome.value) - truth) <= exactly(outcome.error));
    if (outcome.exact) CHECK(exactly(outcome.value) == truth);
}

void check_same(const Outcome &x, const Outcome &y) {
    CHECK(x.value.mantissa == y.value.mantissa);
    CHECK(x.value.exp2 == y.value.exp2);
    CHECK(x.error.mantissa == y.error.mantissa);
    CHECK(x.error.exp2 == y.error.exp2);
}

SliceSearch search_for(double bytes) {
    SliceSearch search;
    search.most_bytes = bytes;
    search.needs = [](const FrontierProgram &program) -> SliceNeeds {
        const Cost cost = frontier_cost(program, FrontierForm::dense, false);
        return {cost.serial_seconds, cost.bytes};
    };
    return search;
}

std::vector<std::int32_t> open_slots(const FrontierProgram &program, std::size_t after) {
    std::set<std::int32_t> open;
    for (std::size_t t = 0; t <= after; ++t)
        for (const FrontierTerm &term : program.steps[t].terms) {
            open.insert(term.slot);
            if (term.closes) open.erase(term.slot);
        }
    return {open.begin(), open.end()};
}

// Slices of any shape: columns and cuts at random, down to `depth`.
void cut_at_random(const FrontierProgram &program, const FrontierSlice &slice, int depth, Random &random,
                   std::vector<FrontierSlice> &slices) {
    const FrontierProgram part = slice_of(program, slice);
    const auto step = at(random.integer(0, std::ssize(part.steps) - 1));
    const std::vector<std::int32_t> open = open_slots(part, step);
    if (depth == 0 || open.empty()) {
        slices.push_back(slice);
        return;
    }
    const std::int32_t slot = open[at(random.integer(0, std::ssize(open) - 1))];
    for (const bool before : {true, false}) {
        FrontierSlice longer = slice;
        longer.push_back({static_cast<std::int32_t>(step), slot, before});
        cut_at_random(program, longer, depth - 1, random, slices);
    }
}

// The same column of `program`, at two cuts.
bool fixes_twice(const FrontierProgram &program, const FrontierSlice &slice) {
    const auto life = [&program](const FixedLine &f) { // the step in which it opens
        for (std::int32_t t = f.cut;; --t)
            for (const FrontierTerm &term : program.steps[at(t)].terms)
                if (term.slot == f.line && term.opens) return std::pair(f.line, t);
    };
    std::set<std::pair<std::int32_t, std::int32_t>> columns;
    for (const FixedLine &f : slice)
        if (!columns.insert(life(f)).second) return true;
    return false;
}

perm::Csr any_matrix(std::int64_t n, std::uint64_t seed) {
    return permutation_plus(n, 3, static_cast<Entries>(seed % 5), seed);
}

template <class Run>
Outcome run_slices(const Prepared &p, const std::vector<FrontierSlice> &slices, const Run &run) {
    MemoryBudget memory(0);
    const SliceWorkers workers{one_worker,
                               [&](std::size_t, const FrontierProgram &slice) { return run(slice); }};
    return outcome_of(run_in_slices({p.block, p.program, memory, 1}, slices, workers));
}

} // namespace

TEST_CASE("slices: columns fixed at random cuts leave parts that add up to the permanent") {
    int twice = 0, dead = 0, alive = 0, negative = 0;
    for (std::uint64_t seed = test_seed(); seed < test_seed() + 300u * at(run::multiplier()); ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const Prepared p = prepare(any_matrix(random.integer(2, 12), seed));
        std::vector<FrontierSlice> slices;
        cut_at_random(p.program, {}, static_cast<int>(random.integer(0, 5)), random, slices);
        Exact sum = 0;
        for (const FrontierSlice &slice : slices) {
            const FrontierProgram program = slice_of(p.program, slice);
            check_program(p, program, p.program);
            const Exact truth = permanent_of(p, program);
            sum += truth;
            twice += fixes_twice(p.program, slice);
            negative += truth < 0;
            if (is_dead(p, program)) {
                ++dead;
                CHECK(truth == 0);
            } else {
                ++alive;
                check_outcome(outcome_of(run_dense(p, program)), truth);
            }
        }
        CHECK(sum == permanent_of(p, p.program));
    }
    CHECK(twice > 500);
    CHECK(dead > 250);
    CHECK(alive > 1000);
    CHECK(negative > 50);
}

TEST_CASE("slices: those that are found fit, live, and add up within their bounds") {
    int several = 0, twice = 0, dropped = 0;
    for (std::uint64_t seed = test_seed(); seed < test_seed() + 40u * at(run::multiplier()); ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const std::int64_t n = random.integer(8, 18);
        const Prepared p = prepare(seed % 3 == 0 ? erdos_renyi(n, 0.4, static_cast<Entries>(seed % 5), seed)
                                                 : any_matrix(n, seed));
        if (is_dead(p, p.program)) continue;
        const double whole = dense_peak_bytes(p.program, false);
        const double bytes =
            std::max(64.0, whole / std::exp2(random.uniform(0, 4))); // 64: one state at a time
        const auto slices = find_slices(p.program, search_for(bytes));
        REQUIRE_FALSE(slices.empty());
        several += slices.size() > 1;
        double share = 0; // of a tree whose every fork has two branches: 1, if none is dropped
        for (const FrontierSlice &slice : slices) {
            const FrontierProgram program = slice_of(p.program, slice);
            check_program(p, program, p.program);
            CHECK(dense_peak_bytes(program, false) <= bytes);
            CHECK_FALSE(is_dead(p, program));
            twice += fixes_twice(p.program, slice);
            share += std::exp2(-static_cast<double>(slice.size()));
        }
        CHECK(share <= 1);
        dropped += share < 1;
        const auto memory_limit = static_cast<std::int64_t>(bytes);
        const auto run = [&](const FrontierProgram &program) { return run_dense(p, program, memory_limit); };
        const Outcome outcome = run_slices(p, slices, run);
        CHECK(outcome.counts.peak_bytes <= memory_limit);
        check_outcome(outcome, permanent_of(p, p.program));
        const Cost cost = sliced_cost(p.program, FrontierForm::dense, slices, false);
        CHECK(outcome.counts.states == cost.states);
        CHECK(outcome.counts.peak_states == cost.peak_states);
        CHECK(cost.bytes <= bytes);
    }
    CHECK(several > 20);
    CHECK(twice > 20);
    CHECK(dropped > 5);
}

TEST_CASE("slices: one that fixes nothing where the whole fits") {
    const Prepared p = prepare(any_matrix(14, 3));
    const double bytes = dense_peak_bytes(p.program, false);
    const auto slices = find_slices(p.program, search_for(bytes));
    REQUIRE(slices.size() == 1);
    CHECK(slices.front().empty());
    const auto run = [&](const FrontierProgram &program) { return run_dense(p, program); };
    check_same(run_slices(p, slices, run), outcome_of(run(p.program)));
}

TEST_CASE("slices: the sum has the same bits wherever and whenever they are computed") {
    const Prepared p = prepare(erdos_renyi(26, 0.25, Entries::real, 9));
    const auto slices = find_slices(p.program, search_for(dense_peak_bytes(p.program, false) / 10));
    REQUIRE(slices.size() > 9);
    const auto one_thread = [&](const FrontierProgram &q) { return run_dense(p, q, 1 << 30, 1); };
    const Outcome sum = run_slices(p, slices, one_thread);
    std::vector<libperm::Ball> numbers(slices.size());
    for (std::size_t k = slices.size(); k-- > 0;) { // as shards would, in any order
        numbers[k] = std::get<libperm::Ball>(run_dense(p, slice_of(p.program, slices[k]), 1 << 30, 3).value);
    }
    Outcome again;
    set_value(again, sum_of(numbers));
    check_same(sum, again);
    const auto same = find_slices(p.program, search_for(dense_peak_bytes(p.program, false) / 10));
    REQUIRE(same.size() == slices.size());
    for (std::size_t k = 0; k < same.size(); ++k)
        CHECK(std::ranges::equal(same[k], slices[k], [](const FixedLine &x, const FixedLine &y) {
            return x.cut == y.cut && x.line == y.line && x.before == y.before;
        }));
}

TEST_CASE("slices: the bound of a sum of many grows with the logarithm of their number") {
    Outcome sum;
    set_value(sum, sum_of(std::vector<libperm::Ball>(50000, libperm::Ball{make_scaled(0.1), {}})));
    CHECK(sum.rel_error_bound < 5e-15);
    CHECK(abs(exactly(sum.value) - 50000 * Exact(0.1)) <= exactly(sum.error));
    set_value(sum, sum_of(std::vector<libperm::Ball>(50001, libperm::Ball{make_scaled(3), {}})));
    CHECK(sum.exact);
    CHECK(exactly(sum.value) == 150003);
    set_value(sum, sum_of({}));
    CHECK(sum.exact);
    CHECK(sum.value.mantissa == 0);
}

TEST_CASE("slices: the search keeps to its limits") {
    const Prepared p = prepare(erdos_renyi(24, 0.3, Entries::ones, 4));
    SliceSearch search = search_for(dense_peak_bytes(p.program, false) / 16);
    int polls = 0;
    const std::size_t all = [&] {
        const PolledBy counted([&polls] { ++polls; });
        return find_slices(p.program, search).size();
    }();
    REQUIRE(all > 16);
    CHECK(polls > 16);
    double seconds = 0;
    for (const FrontierSlice &slice : find_slices(p.program, search))
        seconds += search.needs(slice_of(p.program, slice)).seconds;
    search.most_slices = all;
    search.most_seconds = seconds * (1 + 1e-9);
    CHECK(find_slices(p.program, search).size() == all);
    search.most_slices = all - 1;
    CHECK(find_slices(p.program, search).empty());
    search.most_slices = all;
    search.most_seconds = seconds * 0.99;
    CHECK(find_slices(p.program, search).empty());
    search.most_seconds = 1e300;
    search.most_bytes = 1;
    CHECK(find_slices(p.program, search).empty());
    const PolledBy stop([] { throw Error(PERM_CANCELLED, "enough"); });
    CHECK_THROWS_AS(find_slices(p.program, search), Error);
}

// ---------------------------------------------------------------- through the C API

TEST_CASE("slices: a small memory limit is kept to, told, and the answer is right") {
    for (const auto entries : {Entries::ones, Entries::real, Entries::nonnegative}) {
        const perm::Csr a = erdos_renyi(20, 0.35, entries, 21);
        const Exact truth = oracle::by_frontier(a);
        perm_opts opts = with_engine("frontier");
        perm::Result whole = perm::compute(a, opts);
        CHECK_FALSE(explained(perm::Plan(a, opts)).contains("slices"));
        opts.memory_limit_bytes = whole->peak_bytes / 6;
        CAPTURE(opts.memory_limit_bytes);
        const perm::Plan plan(a, opts);
        const auto json = explained(plan);
        REQUIRE(json.contains("slices"));
        const auto slices = json.at("slices").get<std::int64_t>();
        CHECK(slices > 2);
        CHECK(json.at("form") != "branches");
        CHECK(json.at("predicted_bytes").get<double>() <= static_cast<double>(opts.memory_limit_bytes));
        CHECK(json.at("why").get<std::string>().find(std::to_string(slices) + " slices") !=
              std::string::npos);
        CHECK(plan.explain().find(std::to_string(slices) + " slices of up to ") != std::string::npos);
        opts.threads = 1;
        perm::Result one = perm::compute(a, opts);
        opts.threads = 3;
        perm::Result three = perm::compute(a, opts);
        CHECK(one->mantissa_re == three->mantissa_re);
        CHECK(one->exp2 == three->exp2);
        CHECK(one->rel_error_bound == three->rel_error_bound);
        CHECK(one->peak_bytes <= opts.memory_limit_bytes);
        CHECK(one->states > whole->states);
        CHECK(one->slices == slices);
        CHECK(whole->slices == 0);
        if (entries == Entries::real)
            check_result(*one.raw(), truth);
        else
            check_nonnegative_result(*one.raw(), truth);
    }
}

TEST_CASE("slices: what would take too long in slices is refused with a reason") {
    const perm::Csr a = erdos_renyi(30, 0.3, Entries::real, 22);
    perm_opts opts = with_engine("frontier");
    opts.memory_limit_bytes = 20000;
    const perm::Plan plan(a, opts);
    const auto json = explained(plan);
    CHECK(json.at("refused") == true);
    CHECK(plan.explain().find("slices that fit would be too many or take too long") != std::string::npos);
}
