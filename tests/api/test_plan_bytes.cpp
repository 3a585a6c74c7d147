// Plans that were saved and loaded: the same results, texts and bytes; and bytes that are damaged or forged.
#include "bench/families.hpp"
#include "jit/kernel/subset_source.hpp"
#include "lib/base/error.hpp"
#include "lib/execute/execute.hpp"
#include "lib/frontier/plan.hpp"
#include "lib/report/report.hpp"
#include "lib/ryser/engine.hpp"
#include "lib/saved/bytes.hpp"
#include "lib/subsets/plan.hpp"
#include "tests/support/branch_plans.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/plan_in_memory.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"
#include "tests/support/sealed_bytes.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cstring>
#include <map>
#include <set>

using namespace perm::families;
using namespace sealed_bytes;

namespace {

constexpr const char *engines[] = {"auto",   "ryser",   "frontier", "tree",
                                   "hybrid", "purereg", "dense",    "shared"};
constexpr const char *precisions[] = {"auto", "double", "kahan", "dq", "dd", "exact", "mpfr:100"};

// What plans were met.
std::map<std::string, int> met;

void note(const perm::Plan &plan) {
    const auto j = nlohmann::json::parse(plan.explain(PERM_FORMAT_JSON));
    if (j.at("refused")) ++met["refused"];
    if (j.at("blocks") > 1) ++met["several blocks"];
    if (j.at("reductions").at("merged_lines") > 0) ++met["merged"];
    if (j.at("reductions").at("expansions") > 0) ++met["expanded"];
    if (j.contains("slices")) ++met["sliced"];
    if (j.at("engine").is_string())
        ++met[j.at("engine").get<std::string>() +
              (j.contains("form") ? " " + j.at("form").get<std::string>() : "")];
}

bool same(double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); }

struct Executed {
    perm::Result result;
    perm_status status;
    std::string error;
};

Executed execute(const perm_plan *plan, const void *values) {
    Executed e;
    e.status = perm_plan_execute(plan, values, e.result.raw());
    if (e.status != PERM_OK) e.error = perm_last_error();
    return e;
}

// One that stays a perm_plan, for what throws otherwise.
struct RawPlan {
    perm_plan *plan = nullptr;
    ~RawPlan() { perm_plan_destroy(plan); }
};

std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }

void check_same_results(const perm_plan *plan, const perm_plan *loaded, const void *values) {
    Executed x = execute(plan, values), y = execute(loaded, values);
    CHECK(x.status == y.status);
    CHECK(first_line(x.error) == first_line(y.error)); // the others tell of predictions on so many threads
    const perm_result &r = *x.result.raw(), &s = *y.result.raw();
    check_same_bits(r, s);
    CHECK((same(r.im, s.im) && same(r.mantissa_im, s.mantissa_im) &&
           same(r.abs_error_bound, s.abs_error_bound)));
    CHECK((same(r.operations, s.operations) && same(r.states, s.states) && same(r.subsets, s.subsets)));
    CHECK((r.blocks == s.blocks && r.slices == s.slices && r.transposed == s.transposed));
    if (x.status == PERM_OK) CHECK(std::string(r.engine) == s.engine);
}

std::string source_of(const perm_plan *plan) {
    std::size_t needed = 0;
    if (perm_plan_source(plan, "sm_90", nullptr, 0, &needed) != PERM_OK) return perm_last_error();
    std::string text(needed, '\0');
    perm::check(perm_plan_source(plan, "sm_90", text.data(), text.size(), nullptr));
    ++met["kernels"];
    return text;
}

perm_opts on_threads(perm_opts opts, std::int32_t threads) {
    opts.threads = threads;
    return opts;
}

// Saved, loaded and saved again; executed with the values, which planning was told or not.
void check_round_trip(const perm_csr &a, const perm_opts &opts, bool told) {
    CAPTURE(told);
    perm_csr pattern = a;
    if (!told) pattern.values = nullptr;
    const perm::Plan plan(pattern, on_threads(opts, 1));
    note(plan);
    const std::string bytes = plan.save();
    const perm::Plan loaded = perm::Plan::load(bytes, on_threads(opts, 1));
    CHECK(loaded.save() == bytes);
    CHECK(loaded.explain() == plan.explain());
    CHECK(loaded.explain(PERM_FORMAT_JSON) == plan.explain(PERM_FORMAT_JSON));
    RawPlan raw, first, second;
    REQUIRE(perm_plan_create(&pattern, &opts, &raw.plan) == PERM_OK);
    perm_opts machine = on_threads(PERM_OPTS_INIT, 2);
    machine.memory_limit_bytes = opts.memory_limit_bytes;
    machine.time_limit_seconds = opts.time_limit_seconds;
    for (RawPlan *p : {&first, &second}) {
        REQUIRE(perm_plan_load(bytes.data(), bytes.size(), &machine, &p->plan) == PERM_OK);
        machine.threads = 1;
    }
    CHECK(source_of(first.plan) == source_of(raw.plan));
    check_same_results(raw.plan, first.plan, a.values);
    check_same_results(first.plan, second.plan, a.values);
}

void check_round_trip(const perm_csr &a, const perm_opts &opts) {
    check_round_trip(a, opts, true);
    if (a.value_type != PERM_VALUE_PATTERN) check_round_trip(a, opts, false);
}

perm_opts with(const char *engine, const char *precision, const char *without = nullptr) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = engine;
    opts.precision = precision;
    opts.without = without;
    return opts;
}

// Six rows of 3 entries, the others nearly full: where the cost model expands.
perm::Csr few_in_some(std::int64_t n, Random &random) {
    Dense rows(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n)));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto order = random.permutation(n);
        for (std::size_t k = 0; k < (i < 6 ? 3 : rows.size() - 5); ++k)
            rows[i][static_cast<std::size_t>(order[k])] = random.uniform(0.5, 1);
    }
    return from_dense(rows);
}

void check_met(std::initializer_list<const char *> kinds) {
    for (const char *kind : kinds) {
        CAPTURE(std::string(kind));
        CHECK(met[kind] > 0);
    }
}

template <class Plan> const Plan &plan_of(const libperm::Candidate &c) {
    const Plan *plan = libperm::plan_as<Plan>(c);
    REQUIRE(plan);
    return *plan;
}

bool same_lines(const std::vector<libperm::EqualLines> &x, const std::vector<libperm::EqualLines> &y) {
    return std::ranges::equal(
        x, y, [](const auto &p, const auto &q) { return p.line == q.line && p.count == q.count; });
}

// ---------------------------------------------------------------- bytes

perm_status load(const std::string &bytes, const perm_opts *opts = nullptr) {
    RawPlan raw;
    const perm_status status = perm_plan_load(bytes.data(), bytes.size(), opts, &raw.plan);
    CHECK((status == PERM_OK) == (raw.plan != nullptr));
    if (status != PERM_OK) CHECK(std::strlen(perm_last_error()) > 20);
    return status;
}

libperm::Options small_machine() {
    perm_opts opts = PERM_OPTS_INIT;
    opts.threads = 1;
    opts.memory_limit_bytes = 1 << 26;
    opts.time_limit_seconds = 0.5;
    return libperm::read_options(&opts);
}

// Whatever the bytes say: a plan that can be used, or a status. Whether they made a plan.
bool survives(const std::string &bytes) {
    static const std::vector<double> values(1 << 16, 0.75); // of any type but text
    libperm::Plan plan;
    try {
        plan = load_plan(bytes, small_machine());
    } catch (const libperm::Error &error) {
        CHECK((error.status() == PERM_BAD_ARGUMENT || error.status() == PERM_UNSUPPORTED));
        return false;
    }
    const auto quietly = [](const auto &work) {
        try {
            work();
        } catch (const libperm::Error &) {
        } catch (const std::bad_alloc &) {
        }
    };
    CHECK(!libperm::explain_text(plan).empty());
    CHECK(!libperm::explain_json(plan).empty());
    quietly([&] { libperm::kernel_source(plan, "sm_90"); });
    quietly([&] {
        if (plan.input.value_type == PERM_VALUE_TEXT) return;
        libperm::CurrentCall control(plan.options);
        const void *given = plan.input.value_type == PERM_VALUE_PATTERN ? nullptr : values.data();
        libperm::execute(plan, libperm::read_values(plan.input, given));
    });
    CHECK(!libperm::bytes_of(plan).empty());
    return true;
}

std::vector<perm::Plan> small_plans(Random &random) {
    std::vector<perm::Plan> plans;
    for (const char *engine : engines)
        plans.emplace_back(erdos_renyi(5, 0.8, Entries::real, random.bits()), with(engine, "auto", "all"));
    for (const char *precision : {"dd", "exact"})
        plans.emplace_back(erdos_renyi(6, 0.8, Entries::integers, random.bits()),
                           with("tree", precision, "all"));
    plans.emplace_back(repeated_lines(7, 2, 3, Entries::counts, random.bits()));
    plans.emplace_back(repeated_lines(7, 2, 3, Entries::counts, random.bits()), with("ryser", "auto"));
    plans.emplace_back(build(2, 4, [](auto i, auto j) { return 1.0 + static_cast<double>(i + 2 * j); }));
    plans.emplace_back(block_triangular(3, 4, 0.8, Entries::real, random.bits()),
                       with("auto", "auto", "d1,d2"));
    for (const auto leaves : {branch_cases::Leaves::entries, branch_cases::Leaves::mixed}) {
        const perm::Csr a = erdos_renyi(5, 0.8, Entries::real, random.bits());
        plans.push_back(perm::Plan::load(
            branch_cases::along_random_trees(a.view(), with("frontier", "auto", "all"), leaves, random)
                .bytes));
    }
    return plans;
}

} // namespace

// ---------------------------------------------------------------- round trips

TEST_CASE("every engine and precision, real matrices") {
    met.clear();
    Random random(run::seed(9100));
    for (int i = 0; i < run::cases(3); ++i)
        for (const char *engine : engines)
            for (const char *precision : precisions)
                for (const char *left_out : {"", "all"}) {
                    const perm::Csr a = random_matrix(random.integer(0, 9), random);
                    CAPTURE(describe(a));
                    CAPTURE(std::string(engine) + " " + precision + " " + left_out);
                    check_round_trip(a.view(), with(engine, precision, left_out));
                }
    check_met({"none", "ryser", "frontier sparse", "tree", "refused", "kernels"});
}

TEST_CASE("complex matrices and decimals") {
    met.clear();
    Random random(run::seed(9101));
    for (int i = 0; i < run::cases(4); ++i)
        for (const As as : {As::complex, As::text})
            for (const char *engine : {"auto", "ryser", "frontier", "tree"})
                for (const char *precision : {"auto", "double", "dd", "exact", "mpfr:200"}) {
                    const Given a = given(random_matrix(random.integer(1, 7),
                                                        static_cast<Complexes>(random.integer(0, 5)), random),
                                          as);
                    check_round_trip(a.csr, with(engine, precision, i % 2 == 0 ? "all" : ""));
                }
    check_met({"ryser", "frontier sparse", "tree"});
}

TEST_CASE("int64, patterns, unsorted columns, rectangles, multiplicities") {
    met.clear();
    Random random(run::seed(9102));
    for (int i = 0; i < run::cases(60); ++i) {
        const std::int64_t rows = random.integer(1, 5), cols = random.integer(rows, 6);
        std::vector<std::int64_t> row_ptr{0}, col, values, row_count, col_count;
        for (std::int64_t r = 0; r < rows; ++r) {
            for (const std::int64_t c : random.permutation(cols))
                if (random.chance(0.7)) {
                    col.push_back(c);
                    values.push_back(random.integer(-9, 9));
                }
            row_ptr.push_back(static_cast<std::int64_t>(col.size()));
            row_count.push_back(random.integer(0, 2));
        }
        for (std::int64_t c = 0; c < cols; ++c) col_count.push_back(random.integer(1, 3));
        perm_csr a = PERM_CSR_INIT;
        a.n_rows = rows;
        a.n_cols = cols;
        a.nnz = static_cast<std::int64_t>(col.size());
        a.row_ptr = row_ptr.data();
        a.col_idx = col.data();
        a.value_type = i % 3 == 0 ? PERM_VALUE_PATTERN : PERM_VALUE_I64;
        a.values = i % 3 == 0 ? nullptr : values.data();
        if (i % 2 == 0) a.row_multiplicity = row_count.data();
        if (i % 4 < 2) a.col_multiplicity = col_count.data();
        std::int64_t written_rows = 0, written_cols = 0;
        for (const std::int64_t k : row_count) written_rows += a.row_multiplicity ? k : 1;
        for (const std::int64_t k : col_count) written_cols += a.col_multiplicity ? k : 1;
        if (written_rows > written_cols) continue;
        for (const char *engine : {"auto", "ryser", "frontier", "tree"})
            check_round_trip(a, with(engine, "auto"));
    }
    check_met({"ryser", "frontier sparse", "merged"});
}

TEST_CASE("larger ones: reductions, several blocks, slices, refusals" * doctest::skip(run::sanitized)) {
    met.clear();
    Random random(run::seed(9103));
    const auto bits = [&random] { return random.bits(); };
    std::vector<std::pair<perm::Csr, perm_opts>> cases;
    for (int i = 0; i < run::multiplier(); ++i) {
        const auto entries = static_cast<Entries>(random.integer(0, 4));
        cases.emplace_back(block_triangular(4, 7, 0.5, entries, bits()), with("auto", "auto"));
        cases.emplace_back(degree_chains(40, 12, entries, bits()), with("auto", "auto"));
        cases.emplace_back(repeated_lines(30, 3, 4, Entries::counts, bits()), with("auto", "auto"));
        cases.emplace_back(repeated_lines(14, 3, 4, Entries::real, bits()), with("ryser", "dd"));
        cases.emplace_back(mesh2d(6, 6, entries, bits()), with("auto", "auto"));
        cases.emplace_back(power_network(400, entries, bits()), with("auto", "auto"));
        cases.emplace_back(erdos_renyi(18, 0.6, Entries::real, bits()), with("tree", "auto", "all"));
        cases.emplace_back(erdos_renyi(18, 0.6, Entries::real, bits()), with("tree", "exact", "all"));
        cases.emplace_back(erdos_renyi(16, 0.5, Entries::real, bits()), with("tree", "dd", "all"));
        cases.emplace_back(erdos_renyi(22, 0.9, Entries::integers, bits()), with("auto", "auto"));
        cases.emplace_back(erdos_renyi(70, 0.9, Entries::real, bits()), with("auto", "auto"));
        cases.emplace_back(mesh2d(4, 8, entries, bits()), with("auto", "auto"));
        cases.back().second.decompose = "paper";
        cases.emplace_back(erdos_renyi(34, 0.12, entries, bits()), with("auto", "auto"));
        cases.emplace_back(erdos_renyi(20, 0.6, Entries::real, bits()), with("frontier", "auto", "all"));
        cases.back().second.memory_limit_bytes = 400000;
        cases.back().second.device = "cpu";
    }
    for (const auto &[a, opts] : cases) {
        CAPTURE(a.n_rows);
        check_round_trip(a.view(), opts, true);
        check_round_trip(a.view(), opts, false);
    }
    check_met({"ryser", "frontier dense", "frontier branches", "tree", "merged", "several blocks", "refused",
               "sliced", "expanded"});
}

TEST_CASE("what is made again is what was there") {
    Random random(run::seed(9104));
    int frontiers = 0, trees = 0, rysers = 0;
    const auto check_program = [&](const libperm::FrontierProgram &x, const libperm::FrontierProgram &y) {
        REQUIRE(x.steps.size() == y.steps.size());
        CHECK((x.transposed == y.transposed && x.counts == y.counts && x.slots == y.slots));
        for (std::size_t t = 0; t < x.steps.size(); ++t, ++frontiers) {
            const libperm::FrontierStep &s = x.steps[t], &u = y.steps[t];
            CHECK((s.used_before == u.used_before && s.used_after == u.used_after && s.row == u.row));
            CHECK((s.width_before == u.width_before && s.width_after == u.width_after));
            CHECK((same(s.states_bound, u.states_bound) && same(s.expansions_bound, u.expansions_bound)));
            CHECK(same(s.reachable, u.reachable));
            CHECK(std::ranges::equal(s.terms, u.terms, [](const auto &p, const auto &q) {
                return p.entry == q.entry && p.slot == q.slot && p.width == q.width && p.least == q.least &&
                       p.multiplicity == q.multiplicity && p.opens == q.opens && p.closes == q.closes;
            }));
        }
    };
    const auto check_ryser = [&](const libperm::RyserPlan &x, const libperm::RyserPlan &y) {
        CHECK((x.transposed == y.transposed && x.counted == y.counted));
        CHECK(x.last_column == y.last_column);
        CHECK((same_lines(x.row_kinds, y.row_kinds) && same_lines(x.column_kinds, y.column_kinds)));
        CHECK((same(x.terms, y.terms) && same(x.updates_per_subset, y.updates_per_subset)));
        ++rysers;
    };
    const auto check_subsets = [&](const libperm::SubsetPlan &g, const libperm::SubsetPlan &h) {
        CHECK(
            (g.transposed == h.transposed && g.tolerance == h.tolerance && g.most_refined == h.most_refined));
        CHECK((g.order.rows == h.order.rows && g.order.cols == h.order.cols));
        CHECK((same(g.subsets, h.subsets) && same(g.flops_per_subset, h.flops_per_subset)));
        CHECK(
            (same(g.bytes_per_subset, h.bytes_per_subset) && same(g.global_per_subset, h.global_per_subset)));
        CHECK((g.kernel.segment_bits == h.kernel.segment_bits && g.kernel.unrolled == h.kernel.unrolled));
        CHECK(libperm::key_of(g.kernel) == libperm::key_of(h.kernel));
        trees += g.kernel.engine == libperm::SubsetEngine::tree;
    };
    const auto check_candidate = [&](const libperm::Candidate &x, const libperm::Candidate &y) {
        CHECK((x.engine == y.engine && x.form == y.form && x.transposed == y.transposed));
        REQUIRE((x.plan == nullptr) == (y.plan == nullptr));
        if (!x.plan) return;
        if (x.engine == libperm::Engine::frontier)
            check_program(plan_of<libperm::FrontierPlan>(x).program,
                          plan_of<libperm::FrontierPlan>(y).program);
        else if (x.engine == libperm::Engine::ryser)
            check_ryser(plan_of<libperm::RyserPlan>(x), plan_of<libperm::RyserPlan>(y));
        else
            check_subsets(plan_of<libperm::SubsetPlan>(x), plan_of<libperm::SubsetPlan>(y));
    };
    for (int i = 0; i < run::cases(40); ++i) {
        const std::int64_t n = random.integer(4, 14);
        const perm::Csr a = i % 3 == 0 ? repeated_lines(n, 3, 4, Entries::counts, random.bits())
                                       : erdos_renyi(n, 0.6, Entries::real, random.bits());
        const perm_opts opts =
            with(engines[i % 8], precisions[i / 8 % 7], i % 3 == 0 ? "dm,d1,d2,fm" : "all");
        const libperm::Plan plan = plan_in_memory(a, opts);
        const libperm::Plan loaded = libperm::plan_of(libperm::bytes_of(plan), plan.options);
        CHECK(libperm::digest_of(loaded) == libperm::digest_of(plan));
        REQUIRE(loaded.block_plans.size() == plan.block_plans.size());
        for (const auto &[lines, x] : plan.block_plans) {
            const auto number = loaded.block_plans.find(lines.pattern, lines.kinds, lines.structure);
            REQUIRE(number);
            const libperm::BlockPlan &y = loaded.block_plans[*number].content;
            REQUIRE(x.candidates.size() == y.candidates.size());
            for (std::size_t k = 0; k < x.candidates.size(); ++k)
                check_candidate(x.candidates[k], y.candidates[k]);
        }
    }
    CHECK((frontiers > 0 && trees > 0 && rysers > 0));
}

TEST_CASE("blocks to be expanded") {
    Random random(run::seed(9107));
    int expanded = 0;
    for (int i = 0; i < run::cases(4); ++i) {
        const libperm::Plan plan = plan_in_memory(few_in_some(26, random), with("ryser", "auto"));
        const libperm::Plan loaded = libperm::plan_of(libperm::bytes_of(plan), plan.options);
        CHECK(loaded.expanded.size() == plan.expanded.size());
        for (const auto &block : plan.expanded) CHECK(loaded.expanded.contains(block.lines.pattern));
        const libperm::BlockLines &lines = plan.block_plans[plan.costliest].lines;
        CHECK(loaded.block_plans.find(lines.pattern, lines.kinds, lines.structure) == loaded.costliest);
        expanded += !plan.expanded.empty();
    }
    CHECK(expanded > 0);
}

TEST_CASE("digests tell plans apart, and not machines") {
    const auto digest = [](const perm::Csr &a, const perm_opts &opts) {
        return libperm::digest_of(plan_in_memory(a, opts));
    };
    const perm::Csr a = erdos_renyi(12, 0.6, Entries::real, 1), b = erdos_renyi(12, 0.6, Entries::real, 2);
    const std::string one = digest(a, PERM_OPTS_INIT);
    CHECK(one.size() == 32);
    perm_opts machine = on_threads(PERM_OPTS_INIT, 2);
    machine.time_limit_seconds = 1000;
    machine.memory_limit_bytes = std::int64_t{1} << 33;
    machine.cache_dir = "";
    CHECK(digest(a, machine) == one);
    perm_opts opts[] = {with("frontier", "auto"), with("auto", "dd"), with("auto", "auto", "d1"),
                        PERM_OPTS_INIT, PERM_OPTS_INIT};
    opts[3].seed = 1;
    opts[4].tolerance = 1e-3;
    std::set<std::string> digests{one, digest(b, PERM_OPTS_INIT)};
    for (const perm_opts &o : opts) digests.insert(digest(a, o));
    CHECK(digests.size() == 7);
}

TEST_CASE("the bytes do not depend on threads") {
    // Of the second, exactly, ryser is predicted to take more than a minute on one thread, and less on two.
    perm::Csr cycle = circulant(30, {0, 1, 3, 4, 9});
    for (double &x : cycle.values) x = -7;
    for (const perm::Csr &a : {block_triangular(3, 8, 0.6, Entries::real, run::seed(9105)), cycle})
        for (const char *precision : {"auto", "exact"}) {
            const perm_opts opts = in_precision("auto", precision);
            const std::string bytes = perm::Plan(a, on_threads(opts, 1)).save();
            for (const std::int32_t threads : {2, 3})
                CHECK(perm::Plan(a, on_threads(opts, threads)).save() == bytes);
        }
}

// ---------------------------------------------------------------- options

TEST_CASE("options: the machine's are the caller's, others are the plan's") {
    const perm::Csr a = erdos_renyi(9, 0.7, Entries::real, 5);
    perm_opts own = with("ryser", "mpfr:100", "d1");
    own.tolerance = 1e-6;
    own.seed = 4;
    own.decompose = "paper";
    const std::string bytes = perm::Plan(a, own).save();
    CHECK(load(bytes) == PERM_OK);
    CHECK(load(bytes, &own) == PERM_OK);
    const auto refused = [&](const char *what, const auto &change) {
        perm_opts opts = PERM_OPTS_INIT;
        change(opts);
        CAPTURE(std::string(what));
        CHECK(load(bytes, &opts) == PERM_BAD_OPTION);
        CHECK(std::string(perm_last_error()).find(what) != std::string::npos);
    };
    refused("engine", [](perm_opts &o) { o.engine = "tree"; });
    refused("device", [](perm_opts &o) { o.device = "gpu"; });
    perm_opts on_cpu = PERM_OPTS_INIT; // where it is computed anyway
    on_cpu.device = "cpu";
    CHECK(load(bytes, &on_cpu) == PERM_OK);
    const perm::Plan made(a, own), loaded = perm::Plan::load(bytes, on_cpu);
    CHECK(perm::Task::plan(loaded, a.values.data()).run_shard(0) ==
          perm::Task::plan(made, a.values).run_shard(0));
    refused("precision", [](perm_opts &o) { o.precision = "dd"; });
    refused("precision", [](perm_opts &o) { o.precision = "mpfr:101"; });
    refused("tolerance", [](perm_opts &o) { o.tolerance = 1e-7; });
    refused("seed", [](perm_opts &o) { o.seed = 3; });
    refused("without", [](perm_opts &o) { o.without = "d2"; });
    refused("chunks", [](perm_opts &o) { o.chunks = "equal"; });
    refused("engine", [](perm_opts &o) { o.engine = "nonsense"; });
    CHECK(nlohmann::json::parse(perm::Plan::load(bytes, on_threads(own, 1)).explain(PERM_FORMAT_JSON))
              .at("threads") == 1);
}

TEST_CASE("callbacks and limits are those of loading") {
    const perm::Csr a = erdos_renyi(26, 0.9, Entries::real, 6);
    const std::string bytes = perm::Plan(a, with("ryser", "dd", "all")).save();
    perm_opts opts = PERM_OPTS_INIT;
    opts.cancel = [](void *) { return 1; };
    RawPlan cancelled, limited;
    REQUIRE(perm_plan_load(bytes.data(), bytes.size(), &opts, &cancelled.plan) == PERM_OK);
    CHECK(execute(cancelled.plan, a.values.data()).status == PERM_CANCELLED);
    opts.cancel = nullptr;
    opts.time_limit_seconds = 1e-3;
    REQUIRE(perm_plan_load(bytes.data(), bytes.size(), &opts, &limited.plan) == PERM_OK);
    CHECK(execute(limited.plan, a.values.data()).status == PERM_REFUSED_TIME);
}

// ---------------------------------------------------------------- what is no plan

TEST_CASE("null pointers and buffers") {
    const perm::Csr a = erdos_renyi(5, 0.7, Entries::real, 7);
    const perm_csr view = a.view();
    RawPlan raw;
    REQUIRE(perm_plan_create(&view, nullptr, &raw.plan) == PERM_OK);
    std::size_t needed = 0;
    CHECK(perm_plan_save(nullptr, nullptr, 0, &needed) == PERM_BAD_ARGUMENT);
    CHECK(perm_plan_save(raw.plan, nullptr, 1, &needed) == PERM_BAD_ARGUMENT);
    CHECK(perm_plan_save(raw.plan, nullptr, 0, &needed) == PERM_OK);
    std::string bytes(needed, '\0');
    CHECK(perm_plan_save(raw.plan, bytes.data(), needed - 1, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_plan_save(raw.plan, bytes.data(), needed, nullptr) == PERM_OK);
    CHECK(load(bytes) == PERM_OK);
    CHECK(perm_plan_load(bytes.data(), bytes.size(), nullptr, nullptr) == PERM_BAD_ARGUMENT);
    perm_plan *plan = raw.plan;
    CHECK(perm_plan_load(nullptr, 0, nullptr, &plan) == PERM_BAD_ARGUMENT);
    CHECK(plan == nullptr);
}

TEST_CASE("bytes that are cut off, damaged, foreign or of another version") {
    const std::string bytes = perm::Plan(erdos_renyi(6, 0.7, Entries::real, 8)).save();
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK(load(bytes.substr(0, size)) == PERM_BAD_ARGUMENT);
    for (std::size_t k = 0; k < bytes.size(); ++k)
        for (const int bit : {0, 3, 7}) {
            std::string other = bytes;
            other[k] = static_cast<char>(other[k] ^ 1 << bit);
            CHECK(load(other) != PERM_OK);
        }
    CHECK(load(bytes + "x") == PERM_BAD_ARGUMENT);
    CHECK(load("%PDF-1.7 and so on, for longer than a header") == PERM_BAD_ARGUMENT);
    std::string other = bytes;
    other[version_at] = '9';
    CHECK(load(other) == PERM_UNSUPPORTED);
    CHECK(std::string(perm_last_error()).find("written by libperm 9") != std::string::npos);
}

TEST_CASE("forged texts are refused where they are no UTF-8") {
    const perm::Csr a = erdos_renyi(30, 0.4, Entries::real, run::seed(9115));
    int forged = 0;
    for (const bool is_refused : {false, true}) {
        perm_opts opts = with("auto", "double", "");
        if (is_refused) opts.memory_limit_bytes = 1000;
        const std::string bytes = perm::Plan(a, opts).save();
        for (const char *text : {"predicted to take", "is the limit", "needs a GPU"})
            for (std::size_t at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1)) {
                CAPTURE(std::string(text));
                std::string other = bytes;
                other[at] = '\xff';
                other = with_digest(other);
                perm_plan *plan = nullptr;
                CHECK(perm_plan_load(other.data(), other.size(), nullptr, &plan) == PERM_BAD_ARGUMENT);
                CHECK(std::string(perm_last_error()).find("a text") != std::string::npos);
                CHECK(plan == nullptr);
                ++forged;
                other[at] = 'P'; // another text, but one
                CHECK(perm::Plan::load(with_digest(other)).explain().size() > 0);
            }
    }
    CHECK(forged > 3);
}

TEST_CASE("forged bytes with the right checksum") {
    Random random(run::seed(9106));
    int accepted = 0, refused = 0;
    const auto count = [&](const std::string &bytes) {
        ++(survives(with_digest(bytes)) ? accepted : refused);
    };
    for (const perm::Plan &plan : small_plans(random)) {
        const std::string bytes = plan.save();
        REQUIRE(survives(with_digest(bytes)));
        for (std::size_t k = header_bytes; k < bytes.size(); k += run::sanitized ? 4 : 1) { // one byte
            std::string other = bytes;
            other[k] = static_cast<char>(random.chance(0.5) ? other[k] + (random.chance(0.5) ? 1 : -1)
                                                            : random.integer(0, 255));
            count(other);
        }
        for (int i = 0; i < run::cases(200); ++i) { // a few words, or a piece of another place
            std::string other = bytes;
            const auto place = [&] {
                return static_cast<std::size_t>(
                    random.integer(header_bytes, static_cast<std::int64_t>(bytes.size()) - 8));
            };
            constexpr std::int64_t words[] = {
                -1, 0, 1, std::int64_t{1} << 31, std::int64_t{1} << 62, 0x7ff8000000000000};
            for (std::int64_t k = random.integer(1, 3); k > 0; --k)
                if (random.chance(0.5))
                    std::memcpy(other.data() + place(), &words[random.integer(0, 5)],
                                random.chance(0.5) ? 4 : 8);
                else
                    other.replace(place(), 8, bytes, place(), 8);
            count(other);
        }
    }
    MESSAGE(accepted << " made a plan, " << refused << " did not");
    CHECK(accepted > run::enough(1000));
    CHECK(refused > run::enough(1000));
}
