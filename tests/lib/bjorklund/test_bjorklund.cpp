// Engine bjorklund from inside: hafnians and loop hafnians in every kind of numbers against the definition,
// known ones, permanents, and with the same bits however the work is shared out.
#include "lib/base/archive.hpp"
#include "lib/base/threads.hpp"
#include "lib/bjorklund/bjorklund.hpp"
#include "lib/input/machine.hpp"
#include "lib/number/residues.hpp"
#include "lib/plan/block_plan.hpp"
#include "lib/plan/engines.hpp"
#include "lib/run/proposals.hpp"
#include "lib/run/results.hpp"
#include "lib/ryser/engine.hpp"
#include "lib/structure/structure.hpp"
#include "tests/lib/bjorklund/graphs.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

using namespace libperm;
using graphs::at, graphs::Modulo, graphs::same, graphs::value_of;
using oracle::Exact;
using perm::families::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x626a6f); }

EngineResult result_of(const EngineInput &input) {
    const BjorklundPlan plan(input.pattern());
    call().begin(10 * plan.operations(), 0);
    const EngineResult result = run_bjorklund(plan, input);
    CHECK(call().fraction() < 0.101); // of ten such calls, of any number of primes
    return result;
}
Outcome compute(const ExactBlock &block, Arithmetic arithmetic) {
    return outcome_of(result_of({block, arithmetic}));
}
Outcome compute(const Block &block) { return outcome_of(result_of(block)); }

Block doubles_of(const ExactBlock &block) {
    Block doubles{block.pattern, {}};
    for (const Gaussian &x : block.values) doubles.values.push_back(tracked(x.re.get_d()));
    return doubles;
}

// Whether a bound was there to be checked.
bool check(const Outcome &outcome, const Gaussian &truth) {
    if (outcome.exact) CHECK(value_of(outcome) == truth);
    if (!std::isfinite(outcome.error.mantissa)) return false;
    CHECK(within(value_of(outcome), truth, exactly(outcome.error)));
    return true;
}

std::vector<Arithmetic> wide_ones(bool real) {
    if (real) return {Arithmetic::complex, Arithmetic::dd, Arithmetic::complex_dd};
    return {Arithmetic::complex, Arithmetic::complex_dd};
}

bool all_doubles(const ExactBlock &block) {
    return std::all_of(block.values.begin(), block.values.end(),
                       [](const Gaussian &x) { return is_real(x) && Exact(x.re.get_d()) == x.re; });
}

// How many of its bounds were finite.
int check_all_kinds(const ExactBlock &block, const Gaussian &truth) {
    int finite = 0;
    const bool real =
        std::all_of(block.values.begin(), block.values.end(), [](const Gaussian &x) { return is_real(x); });
    for (const Arithmetic arithmetic : wide_ones(real)) {
        CAPTURE(arithmetic_name(arithmetic));
        finite += check(compute(block, arithmetic), truth);
    }
    if (all_doubles(block)) finite += check(compute(doubles_of(block)), truth);
    return finite;
}

std::vector<std::uint64_t> primes() { return primes_below(modular_bits, 3, false); }

ResidueVector residues_of(const Pattern &graph, const std::vector<std::vector<std::uint64_t>> &values) {
    return std::get<ResidueVector>(result_of(Residues{graph, primes(), values}).value);
}

Pattern two_sides(std::int32_t n) {
    Pattern p;
    p.rows = p.cols = n;
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = 0; j < n; ++j) p.col.push_back(j);
        p.row_ptr.push_back(static_cast<std::int64_t>(p.col.size()));
    }
    return p;
}

} // namespace

TEST_CASE("random graphs of every kind agree with the sum over all matchings") {
    Random random(test_seed());
    int compared = 0, finite = 0, zeros = 0, odd = 0, by_signs = 0;
    for (int trial = 0; trial < run::cases(1200); ++trial) {
        const auto entries = static_cast<Complexes>(trial % static_cast<int>(Complexes::kinds));
        const bool loops = random.chance(0.5);
        const auto n =
            static_cast<std::int32_t>(trial % 12 == 0 ? random.integer(10, 12) : random.integer(1, 9));
        CAPTURE(trial);
        CAPTURE(n);
        CAPTURE(loops);
        const double density = random.chance(0.5) ? 1 : random.uniform(0.2, 1);
        const ExactBlock block =
            graphs::with_numbers(graphs::random_pattern(n, loops, density, random), entries, random);
        const Gaussian truth = graphs::hafnian(block);
        finite += check_all_kinds(block, truth);
        compared += static_cast<int>(wide_ones(all_real(entries)).size()) + (all_doubles(block) ? 1 : 0);
        zeros += is_zero(truth);
        odd += n % 2 == 1 && !is_zero(truth);
        by_signs += !BjorklundPlan(block.pattern).by_definition();
    }
    CHECK(compared > run::enough(1500));
    CHECK(finite > compared * 9 / 10);
    CHECK(zeros > run::enough(50));
    CHECK(odd > run::enough(100));
    CHECK(by_signs > run::enough(40));
}

TEST_CASE("so do residues") {
    Random random(test_seed() + 1);
    int compared = 0, by_signs = 0;
    for (int trial = 0; trial < run::cases(200); ++trial) {
        const auto n =
            static_cast<std::int32_t>(trial % 3 == 0 ? random.integer(10, 13) : random.integer(1, 9));
        CAPTURE(trial);
        CAPTURE(n);
        const Pattern graph =
            graphs::random_pattern(n, random.chance(0.5), random.chance(0.5) ? 1 : 0.5, random);
        std::vector<std::vector<std::uint64_t>> values;
        for (const std::uint64_t p : primes()) {
            values.emplace_back();
            for (std::size_t k = 0; k < graph.col.size(); ++k)
                values.back().push_back(random.chance(0.1) ? p - 1 : random.bits() % p);
        }
        const ResidueVector residues = residues_of(graph, values);
        for (std::size_t m = 0; m < residues.size(); ++m, ++compared) {
            const std::uint64_t p = primes()[m];
            std::vector<Modulo> numbers;
            for (const std::uint64_t x : values[m]) numbers.push_back({x, p});
            CHECK(residues[m] == graphs::hafnian<Modulo>(graph, numbers, {0, p}, {1, p}).value);
        }
        by_signs += !BjorklundPlan(graph).by_definition();
    }
    CHECK(compared > run::enough(500));
    CHECK(by_signs > run::enough(30));
}

TEST_CASE("ones: (n - 1)!!, and with loops the involutions") {
    const std::int32_t most = run::sanitized ? 24 : 40;
    std::vector<mpz_class> involutions{1, 1};
    for (std::int32_t n = 2; n <= most; ++n)
        involutions.push_back(involutions[at(n - 1)] + (n - 1) * involutions[at(n - 2)]);
    int compared = 0;
    for (std::int32_t n = 1; n <= most; ++n)
        for (const bool loops : {false, true}) {
            if (n > 26 && n != most && n != most - 1) continue;
            CAPTURE(n);
            CAPTURE(loops);
            mpz_class truth = 1;
            for (std::int32_t k = n - 1; k > 0; k -= 2) truth *= k;
            if (n % 2 == 1) truth = 0;
            if (loops) truth = involutions[at(n)];
            const Pattern graph = graphs::complete(n, loops);
            const std::vector<std::uint64_t> ones(graph.col.size(), 1);
            const ResidueVector residues = residues_of(graph, {ones, ones, ones});
            for (std::size_t m = 0; m < residues.size(); ++m, ++compared)
                CHECK(mpz_class(residues[m]) == truth % mpz_class(primes()[m]));
            ExactBlock block{graph, std::vector<Gaussian>(graph.col.size(), Gaussian{1, 0})};
            const Outcome outcome = compute(doubles_of(block));
            CHECK(check(outcome, {truth, 0}));
            if (truth != 0) CHECK(outcome.rel_error_bound < 1e-7);
            if (n > 26) continue;
            const Outcome wide = compute(block, Arithmetic::dd);
            CHECK(check(wide, {truth, 0}));
            if (truth != 0) CHECK(wide.rel_error_bound < 1e-24);
        }
    CHECK(compared > 100);
}

TEST_CASE("bounds hold where terms cancel and scales differ") {
    Random random(test_seed() + 2);
    int compared = 0, of_use = 0;
    for (int trial = 0; trial < run::cases(3000); ++trial) {
        const auto entries = static_cast<Complexes>(trial % static_cast<int>(Complexes::kinds));
        const bool loops = random.chance(0.5);
        const auto n = static_cast<std::int32_t>(random.integer(11, trial % 20 == 0 ? 22 : 15));
        CAPTURE(trial);
        CAPTURE(n);
        CAPTURE(loops);
        ExactBlock block = graphs::with_numbers(
            graphs::random_pattern(n, loops, random.uniform(0.5, 1.2), random), entries, random);
        if (random.chance(0.3)) { // of lines of any size
            std::vector<std::int64_t> line(at(n));
            for (std::int64_t &s : line) s = random.integer(-400, 400);
            std::size_t k = 0;
            for (std::int32_t i = 0; i < n; ++i)
                for (const std::int32_t j : block.pattern.row(i)) {
                    Gaussian &x = block.values[k++];
                    const std::int64_t by = line[at(i)] + (i == j ? 0 : line[at(j)]);
                    x = {shifted(x.re, by), shifted(x.im, by)};
                }
        }
        const Outcome wide = compute(block, Arithmetic::complex_dd);
        const Outcome outcome = all_doubles(block) && all_real(entries) ? compute(doubles_of(block))
                                                                        : compute(block, Arithmetic::complex);
        if (!std::isfinite(wide.error.mantissa) || !std::isfinite(outcome.error.mantissa)) continue;
        CHECK(within(value_of(outcome), value_of(wide), exactly(outcome.error) + exactly(wide.error)));
        ++compared;
        of_use += outcome.rel_error_bound < 1e-3;
    }
    CHECK(compared > run::enough(2800));
    CHECK(of_use > run::enough(1500));
}

TEST_CASE("entries that come with errors of their own") {
    Random random(test_seed() + 3);
    int compared = 0;
    for (int trial = 0; trial < run::cases(200); ++trial) {
        const auto n = static_cast<std::int32_t>(random.integer(4, 12));
        CAPTURE(trial);
        Block block{graphs::complete(n, n % 2 == 1), {}};
        ExactBlock exact{block.pattern, {}};
        for (std::size_t k = 0; k < block.pattern.col.size(); ++k) {
            const double x = random.uniform(-1, 1), y = random.uniform(-1, 1), z = random.uniform(-1, 1);
            block.values.push_back(tracked(x) * tracked(y) + tracked(z));
            exact.values.push_back({Exact(x) * Exact(y) + Exact(z), 0});
        }
        compared += check(compute(block), graphs::hafnian(exact));
    }
    CHECK(compared > run::enough(190));
}

TEST_CASE("permanents are hafnians of bipartite graphs") {
    Random random(test_seed() + 4);
    int compared = 0;
    for (int trial = 0; trial < run::cases(60); ++trial) {
        const auto n = static_cast<std::int32_t>(random.integer(5, 10));
        CAPTURE(trial);
        CAPTURE(n);
        const Pattern sides = two_sides(n);
        const Complexes entries = random.chance(0.5) ? Complexes::complex : Complexes::rationals;
        ExactBlock matrix{sides, {}};
        for (std::size_t k = 0; k < sides.col.size(); ++k)
            matrix.values.push_back(random_complex(entries, random));
        // Its lines mixed, so that pairs are not of one side.
        const std::vector<std::int64_t> line = random.permutation(2 * n);
        std::vector<std::vector<Gaussian>> a(at(2 * n), std::vector<Gaussian>(at(2 * n)));
        for (std::int32_t i = 0; i < n; ++i)
            for (std::int32_t j = 0; j < n; ++j) {
                const auto [low, high] = std::minmax(line[at(i)], line[at(n + j)]);
                a[at(low)][at(high)] = matrix.values[at(i * n + j)];
            }
        ExactBlock graph{graphs::complete(2 * n, false), {}};
        for (std::int32_t i = 0; i < 2 * n; ++i)
            for (const std::int32_t j : graph.pattern.row(i)) graph.values.push_back(a[at(i)][at(j)]);
        const Outcome permanent = outcome_of(
            run_ryser(plan_ryser(sides, transpose(sides).pattern), {matrix, Arithmetic::complex_dd}));
        for (const Arithmetic arithmetic : {Arithmetic::complex, Arithmetic::complex_dd}) {
            const Outcome hafnian = compute(graph, arithmetic);
            CHECK(within(value_of(hafnian), value_of(permanent),
                         exactly(hafnian.error) + exactly(permanent.error)));
            CHECK(hafnian.rel_error_bound < (arithmetic == Arithmetic::complex ? 1e-3 : 1e-16));
            ++compared;
        }
    }
    CHECK(compared > run::enough(100));
}

namespace {

// On 1 to 4 threads, and in three shards that are put together.
void check_sharing(const EngineInput &input, std::size_t pieces) {
    const BjorklundPlan plan(input.pattern());
    const auto with_store = [&](PieceStore *store) {
        CurrentCall whole;
        CurrentCall control(1, PieceScope{store, {}});
        return outcome_of(run_bjorklund(plan, input));
    };
    const Outcome one = with_store(nullptr);
    CHECK(one.value.mantissa != 0);
    for (const int threads : {1, 2, 4}) {
        Outcome other;
        with_threads(threads, [&] { other = with_store(nullptr); });
        CHECK(same(one, other));
    }
    PieceStore all;
    for (std::uint64_t k = 0; k < 3; ++k) {
        PieceStore shard(nullptr, Shard{3, k});
        with_store(&shard);
        for (Piece &piece : shard.pieces()) all.put(std::move(piece));
    }
    CHECK(all.pieces().size() == pieces);
    CHECK(same(one, with_store(&all)));
    CHECK(all.pieces().size() == pieces);
}

} // namespace

TEST_CASE("the same bits on any number of threads, and from shards put together") {
    Random random(test_seed() + 5);
    for (const bool loops : {false, true}) {
        const ExactBlock large =
            graphs::with_numbers(graphs::complete(34, loops), Complexes::complex, random);
        check_sharing({large, Arithmetic::complex}, 8);
        if (loops || run::sanitized) continue;
        check_sharing({large, Arithmetic::complex_dd}, 8);
        check_sharing(doubles_of(large), 8);
    }
}

TEST_CASE("plans: proposed for graphs alone, made again from bytes, refused beyond their lines") {
    Options options = read_options(nullptr);
    options.device = Device::cpu;
    const auto plan_of = [&](const Pattern &a) { return plan_block(a, {}, {false, true, {}, 0}, options); };
    options.engine = Engine::bjorklund;
    const BlockPlan plan = plan_of(graphs::complete(20, true));
    REQUIRE(plan.choice() != nullptr);
    CHECK(plan.choice()->engine == Engine::bjorklund);
    const EngineInfo &info = info_of(Engine::bjorklund);
    info.check(*plan.choice());
    const std::string bytes = info.saved(*plan.choice()->plan, true);
    const Pattern graph = graphs::complete(20, true), transposed = transpose(graph).pattern;
    const LineClasses kinds;
    const Structure structure;
    const PlanSource source{graph, transposed, kinds, structure, plan.numbers, options};
    Candidate again = *plan.choice();
    again.plan = info.restored(bytes, 0, source);
    info.check(again);
    CHECK(plan_as<BjorklundPlan>(again)->operations() ==
          plan_as<BjorklundPlan>(*plan.choice())->operations());
    CHECK_THROWS_AS(info.restored("r", 0, source), DamagedField);
    const Pattern two_sided = two_sides(20);
    const PlanSource foreign{two_sided, transposed, kinds, structure, plan.numbers, options};
    CHECK_THROWS_AS(info.restored(bytes, 0, foreign), DamagedField);

    const BlockPlan large = plan_of(graphs::complete(most_bjorklund_lines + 2, false));
    CHECK(large.choice() == nullptr);
    CHECK(large.refusal_text.find("at most 64 lines") != std::string::npos);

    const BlockPlan permanent = plan_of(two_sides(6));
    CHECK(permanent.choice() == nullptr);
    CHECK(permanent.refusal_text.find("hafnians alone") != std::string::npos);
    options.engine = Engine::ryser;
    CHECK(plan_of(graphs::complete(6, true)).refusal_text.find("permanents alone") != std::string::npos);

    options.engine = Engine::automatic;
    for (const Candidate &c : plan_of(two_sides(6)).candidates) CHECK(c.engine != Engine::bjorklund);
}

TEST_CASE("plans for a machine with a GPU take it where it is sooner, and name it") {
    Options options = read_options(nullptr);
    GpuProperties gpu;
    gpu.compute_capability = 90;
    gpu.multiprocessors = 132;
    gpu.fp64_lanes = 64;
    gpu.threads = 2048;
    gpu.shared_bytes = 232448;
    gpu.clock_hz = 1.98e9;
    gpu.memory_bytes = std::int64_t{80} << 30;
    Machine machine;
    machine.memory_bytes = std::int64_t{1} << 37;
    machine.gpus = {gpu};
    options.machine = std::make_shared<const Machine>(machine);
    const Numbers doubles, complex_dd{Precision::dd, true};
    const auto choice = [&](std::int32_t n, const Numbers &numbers) {
        const BlockPlan plan = plan_block(graphs::complete(n, true), {}, {false, true, numbers, 0}, options);
        REQUIRE(plan.choice() != nullptr);
        CHECK(plan.choice()->engine == Engine::bjorklund);
        info_of(Engine::bjorklund).check(*plan.choice());
        return *plan.choice();
    };
    CHECK(!choice(30, doubles).on_gpu);
    CHECK(!choice(30, complex_dd).on_gpu);
    CHECK(choice(50, complex_dd).on_gpu);
    CHECK(choice(60, doubles).on_gpu);
    CHECK(choice(60, doubles).cost.bytes > 1e6);
    options.device = Device::gpu;
    CHECK(choice(30, doubles).on_gpu);
    CHECK(!choice(8, doubles).on_gpu); // by definition
    CHECK(info_of(Engine::bjorklund)
              .source(choice(30, complex_dd), complex_dd, false)
              .text.find("Complex<DD<double>>") != std::string::npos);
    Candidate few = choice(8, doubles);
    few.on_gpu = true;
    CHECK_THROWS_AS(info_of(Engine::bjorklund).check(few), DamagedField);
    options.device = Device::cpu;
    CHECK(!choice(50, complex_dd).on_gpu);
}
