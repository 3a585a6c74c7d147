// Engine planar of graphs: hafnians as Pfaffians, against sums over all matchings and along the frontier, in
// all kinds of numbers; what is no planar graph, and plans made again.
#include "lib/base/archive.hpp"
#include "lib/input/options.hpp"
#include "lib/number/residues.hpp"
#include "lib/number/state_number.hpp"
#include "lib/plan/block_plan.hpp"
#include "lib/plan/engines.hpp"
#include "lib/planar/plan.hpp"
#include "lib/planar/planar.hpp"
#include "lib/planar/signed_sum.hpp"
#include "lib/run/engine_input.hpp"
#include "lib/run/results.hpp"
#include "lib/structure/structure.hpp"
#include "tests/lib/bjorklund/graphs.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/graph_matchings.hpp"
#include "tests/support/plan_shards.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

using namespace libperm;
using oracle::Exact;
using perm::families::Random;

namespace {

using Edge = std::pair<std::int32_t, std::int32_t>; // the lower line first
using Edges = std::set<Edge>;
Edge edge(std::int32_t i, std::int32_t j) { return {std::min(i, j), std::max(i, j)}; }

Pattern graph_of(std::int32_t n, const Edges &edges) {
    return graphs::pattern(n, [&](std::int32_t i, std::int32_t j) { return edges.contains({i, j}); });
}

// A sphere's triangles, three lines or more: each new line into one of them; then edges are turned in the two
// triangles that they lie between.
Edges triangulation(std::int32_t n, Random &random) {
    using Triangle = std::array<std::int32_t, 3>;
    std::vector<Triangle> triangles{{0, 1, 2}, {0, 1, 2}};
    Edges edges{{0, 1}, {0, 2}, {1, 2}};
    const auto any = [&] { return at(random.integer(0, std::ssize(triangles) - 1)); };
    for (std::int32_t line = 3; line < n; ++line) {
        Triangle &of = triangles[any()];
        const Triangle old = of;
        of = {old[0], old[1], line};
        triangles.push_back({old[0], old[2], line});
        triangles.push_back({old[1], old[2], line});
        for (const std::int32_t corner : old) edges.insert({corner, line});
    }
    for (std::int32_t turn = 0; turn < 2 * n && n > 4; ++turn) {
        const std::size_t x = any(), y = any();
        std::vector<std::int32_t> shared, apart;
        for (const std::int32_t corner : triangles[x])
            (std::ranges::count(triangles[y], corner) > 0 ? shared : apart).push_back(corner);
        for (const std::int32_t corner : triangles[y])
            if (std::ranges::count(triangles[x], corner) == 0) apart.push_back(corner);
        if (shared.size() != 2) continue;
        if (edges.contains(edge(apart[0], apart[1]))) continue;
        edges.erase(edge(shared[0], shared[1]));
        edges.insert(edge(apart[0], apart[1]));
        triangles[x] = {apart[0], apart[1], shared[0]};
        triangles[y] = {apart[0], apart[1], shared[1]};
    }
    return edges;
}

// Of which so many are kept, lines in any order.
Pattern random_planar(std::int32_t n, double kept, Random &random) {
    const std::vector<std::int64_t> order = random.permutation(n);
    const auto place = [&](std::int32_t line) { return static_cast<std::int32_t>(order[at(line)]); };
    Edges edges;
    for (const auto &[i, j] : triangulation(n, random))
        if (i < n && j < n && random.chance(kept)) edges.insert(edge(place(i), place(j)));
    return graph_of(n, edges);
}

EngineResult by_pfaffian(const PlanarPlan &plan, const EngineInput &input) {
    Candidate choice;
    choice.engine = Engine::planar;
    choice.plan = std::make_shared<const PlanarPlan>(plan);
    const Options options;
    GpuQueues gpus(options);
    return run_planar({choice, options, call().memory(), gpus}, input);
}

using graphs::Modulo;

Modulo over_all(const Pattern &graph, const std::vector<std::uint64_t> &values, std::uint64_t prime) {
    std::vector<Modulo> numbers;
    for (const std::uint64_t x : values) numbers.push_back({x, prime});
    return graphs::hafnian<Modulo>(graph, numbers, {0, prime}, {1, prime});
}

// The corners of an icosahedron; in each triangle a new line, joined to its corners and to the lines in the
// triangles beside it; a line for each triangle of that: C60, and C180 and so on by doing it again.
Pattern fullerene(int times) {
    const auto faces_in = [](const Pattern &graph) { return faces_of(*planar_rotation(graph)); };
    Edges edges;
    for (std::int32_t k = 0; k < 5; ++k)
        for (const auto &[i, j] : Edges{{0, 1 + k},
                                        {1 + k, 1 + (k + 1) % 5},
                                        {1 + k, 6 + k},
                                        {1 + k, 6 + (k + 1) % 5},
                                        {6 + k, 6 + (k + 1) % 5},
                                        {6 + k, 11}})
            edges.insert(edge(i, j));
    Pattern triangles = graph_of(12, edges);
    for (;; --times) {
        const Faces faces = faces_in(triangles);
        const auto count = static_cast<std::int32_t>(faces.darts.size());
        Edges between;
        for (Dart d = 0; at(d) < faces.of_dart.size(); d += 2)
            between.insert(edge(faces.of_dart[at(d)], faces.of_dart[at(d + 1)]));
        if (times == 0) return graph_of(count, between);
        const PatternGraph graph(triangles);
        for (Dart d = 0; at(d) < faces.of_dart.size(); ++d)
            between.insert(edge(faces.of_dart[at(d)], count + graph.line_of(d)));
        triangles = graph_of(count + triangles.rows, between);
    }
}

Pattern triangular_board(std::int32_t width, std::int32_t height) {
    return graphs::pattern(width * height, [=](std::int32_t i, std::int32_t j) {
        const std::int32_t dx = j % width - i % width, dy = j / width - i / width;
        return (dx == 1 && dy == 0) || (dy == 1 && (dx == 0 || dx == 1));
    });
}

// Both halves, as callers give them.
oracle::GaussianMatrix full(const ExactBlock &graph) {
    oracle::GaussianMatrix a(at(graph.n()), std::vector<Gaussian>(at(graph.n())));
    std::size_t k = 0;
    for (std::int32_t i = 0; i < graph.n(); ++i)
        for (const std::int32_t j : graph.pattern.row(i)) {
            a[at(i)][at(j)] = a[at(j)][at(i)] = graph.values[k];
            ++k;
        }
    return a;
}

ExactBlock ones(Pattern graph) {
    const std::size_t count = graph.col.size();
    return {std::move(graph), std::vector<Gaussian>(count, {1, 0})};
}

perm::Result hafnian_by(const char *engine, const Given &a, const char *without = "",
                        const char *precision = "exact") {
    perm_opts opts = of_function("hafnian", engine, precision);
    opts.without = without;
    return perm::compute(a.csr, opts);
}

} // namespace

TEST_CASE("modulo primes planar graphs have the sum over all matchings") {
    Random random(run::seed(0x706661));
    int compared = 0, without_matching = 0, zeros = 0;
    const std::vector<std::uint64_t> primes = primes_below(residue_bits, 2, false);
    for (int trial = 0; trial < run::cases(500); ++trial) {
        const auto n = static_cast<std::int32_t>(2 * random.integer(1, trial % 10 == 0 ? 7 : 5));
        const Pattern graph = random_planar(n, random.uniform(0.4, 1), random);
        const bool few = random.chance(0.5); // so that pivots cancel
        std::vector<std::vector<std::uint64_t>> values;
        for (const std::uint64_t p : primes) {
            values.emplace_back();
            for (std::size_t k = 0; k < graph.col.size(); ++k)
                values.back().push_back(few ? (random.chance(0.5) ? 1 : p - 1) : random.bits() % p);
        }
        CAPTURE(trial);
        CAPTURE(n);
        const std::optional<PlanarPlan> plan = plan_planar(graph);
        if (!plan) {
            ++without_matching;
            CHECK(is_zero(graphs::hafnian(ones(graph))));
            continue;
        }
        const EngineResult result = by_pfaffian(*plan, Residues{graph, primes, values});
        for (std::size_t m = 0; m < primes.size(); ++m) {
            const Modulo truth = over_all(graph, values[m], primes[m]);
            CHECK(std::get<ResidueVector>(result.value)[m] == truth.value);
            zeros += truth.value == 0;
            ++compared;
        }
    }
    CHECK(compared > run::enough(500));
    CHECK(without_matching > run::enough(20));
    CHECK(zeros > run::enough(10));
}

TEST_CASE("balls hold the sum over all matchings, where terms cancel and scales differ") {
    Random random(run::seed(0x706662));
    int compared = 0, zeros = 0, close = 0;
    for (int trial = 0; trial < run::cases(500); ++trial) {
        const auto n = static_cast<std::int32_t>(2 * random.integer(1, 5));
        const Pattern graph = random_planar(n, random.uniform(0.6, 1), random);
        const std::optional<PlanarPlan> plan = plan_planar(graph);
        if (!plan) continue;
        Block block{graph, {}};
        ExactBlock exact{graph, {}};
        const int far = trial % 3 == 0 ? 800 : 2;
        for (std::size_t k = 0; k < graph.col.size(); ++k) {
            const double x = trial % 3 == 1 ? (random.chance(0.5) ? 1 : -1)
                                            : random.uniform(-1, 1) *
                                                  std::exp2(static_cast<double>(random.integer(-far, far)));
            block.values.push_back(tracked(x));
            exact.values.push_back({mpq_class(x), 0});
        }
        const Exact truth = graphs::hafnian(exact).re;
        CAPTURE(trial);
        PlanarPlan in_balls = *plan;
        in_balls.by_residues = false;
        const Ball ball = std::get<Ball>(by_pfaffian(in_balls, block).value);
        const Exact value = exactly(ball.value), error = exactly(ball.error);
        CHECK(abs(value - truth) <= error);
        zeros += truth == 0;
        close += truth != 0 && error < abs(truth) / 1'000'000'000;
        ++compared;
    }
    CHECK(compared > run::enough(300));
    CHECK((zeros > 5 || run::sanitized));
    CHECK(close > run::enough(250));
}

TEST_CASE("an odd number of entries points round each face") {
    Random random(run::seed(0x706663));
    int faces_seen = 0, bridges = 0;
    for (int trial = 0; trial < run::cases(200); ++trial) {
        const Pattern pattern = random_planar(static_cast<std::int32_t>(2 * random.integer(2, 20)),
                                              random.uniform(0.5, 1), random);
        const PatternGraph graph(pattern);
        const Forest forest(graph);
        if (std::ranges::count(forest.to_parent, -1) > 1) continue; // of an odd number of lines, perhaps
        const auto rotation = planar_rotation(pattern);
        REQUIRE(rotation.has_value());
        const Faces faces = faces_of(*rotation);
        CHECK(genus_of(*rotation, faces) == 0);
        const KasteleynSigns signs(graph, faces, forest);
        for (const auto &face : faces.darts) {
            int round = 0;
            for (const Dart d : face) {
                round += leaves_row(d) != (signs.is_negative()[at(entry_of(d))] != 0);
                bridges += faces.of_dart[at(d)] == faces.of_dart[at(across(d))];
            }
            CHECK(round % 2 == 1);
            ++faces_seen;
        }
    }
    CHECK(faces_seen > run::enough(500));
    CHECK(bridges > run::enough(50));
}

TEST_CASE("larger planar graphs are computed along the frontier, too, in all numbers") {
    Random random(run::seed(0x706664));
    int compared = 0, nonzero = 0, of_engine = 0;
    for (int trial = 0; trial < run::cases(80); ++trial) {
        const auto entries = static_cast<Complexes>(trial % static_cast<int>(Complexes::kinds));
        const auto n = static_cast<std::int32_t>(2 * random.integer(6, 16));
        const ExactBlock graph =
            graphs::with_numbers(random_planar(n, random.uniform(0.7, 1), random), entries, random);
        const Given a = given(full(graph), entries == Complexes::rationals ? As::text : As::complex);
        const std::string truth = hafnian_by("frontier", a).text();
        CAPTURE(trial);
        for (const char *without : {"", "all"}) {
            CHECK(std::string(hafnian_by("planar", a, without).text()) == truth);
            perm::Result rounded = hafnian_by("planar", a, without, "auto");
            check_gaussian(*rounded.raw(), number_of(truth));
            of_engine += std::string_view(rounded->engine) == "planar";
            ++compared;
        }
        nonzero += truth != "0";
    }
    CHECK(compared > run::enough(100));
    CHECK(nonzero > run::enough(40));
    CHECK(of_engine > run::enough(60));
}

// Kekulé structures: Klein, Schmalz, Hite and Seitz, J. Am. Chem. Soc. 108 (1986) of C60.
TEST_CASE("fullerenes and boards of triangles") {
    const std::array<std::pair<const char *, int>, 3> known{
        {{"36", 20}, {"12500", 60}, {"1389029765625", 180}}};
    for (int times = 0; times < 3; ++times) {
        const Pattern graph = fullerene(times);
        REQUIRE(graph.rows == known[at(times)].second);
        perm::Result r = hafnian_by("planar", given(full(ones(graph)), As::text));
        CHECK(std::string(r.text()) == known[at(times)].first);
        CHECK(std::string_view(r->engine) == "planar");
    }
    for (const auto &[width, height] : {std::pair(6, 6), std::pair(9, 12), std::pair(14, 8)}) {
        const Given a = given(full(ones(triangular_board(width, height))), As::text);
        CHECK(std::string(hafnian_by("planar", a).text()) == hafnian_by("frontier", a).text());
    }
    perm::Result large = hafnian_by("auto", given(full(ones(triangular_board(20, 20))), As::text));
    CHECK(std::string_view(large->engine) == "planar");
    CHECK(std::string(large.text()) ==
          "40688743896992170203191431324562552341814139043192585054582874060800");
}

TEST_CASE("a loop that no matching uses is no hindrance") {
    const Pattern board = triangular_board(10, 10);
    oracle::GaussianMatrix a = full(ones(board));
    a[42][42] = {7, 0}; // which leaves an odd number of lines
    const Given with_loop = given(a, As::text);
    perm::Result r = perm::compute(with_loop.csr, of_function("loop_hafnian"));
    CHECK(std::string_view(r->engine) == "planar");
    CHECK(std::string(r.text()) == "1852300296658080");
    a[43][43] = {2, 0}; // both stay single, or none
    const Given with_two = given(a, As::text);
    perm::Result s = perm::compute(with_two.csr, of_function("loop_hafnian"));
    CHECK(std::string_view(s->engine) == "frontier");
    perm::Result rest = [&] {
        for (const std::size_t line : {43, 42}) {
            a.erase(a.begin() + static_cast<std::ptrdiff_t>(line));
            for (std::vector<Gaussian> &row : a) row.erase(row.begin() + static_cast<std::ptrdiff_t>(line));
        }
        return hafnian_by("planar", given(a, As::text));
    }();
    CHECK(mpz_class(s.text()) == mpz_class(r.text()) + 14 * mpz_class(rest.text()));
}

TEST_CASE("plans of planar graphs are saved, shared out and put together") {
    Random random(run::seed(0x706665));
    const ExactBlock graph = graphs::with_numbers(triangular_board(20, 20), Complexes::complex, random);
    const Given a = given(full(graph), As::complex);
    const perm::Plan plan(a.csr, of_function("hafnian", "planar", "exact"));
    CHECK(plan.explain().find("planar: drawn in the plane, 1 Pfaffian\n") != std::string::npos);
    CHECK(plan.explain().find("derivatives") == std::string::npos);
    const std::string text = plan.execute(a.csr.values).text();
    CHECK(perm::Plan::load(plan.save()).execute(a.csr.values).text() == text);
    REQUIRE(perm::Task::plan(plan, a.csr.values).shards() > 1);
    CHECK(in_shards(plan, a.csr.values).text() == text);
}

TEST_CASE("a plan is made again from its bytes, for the graph it is of") {
    const Pattern board = triangular_board(8, 8);
    Options options = read_options(nullptr);
    options.device = Device::cpu;
    options.engine = Engine::planar;
    const auto plan_of = [&](const Pattern &a) { return plan_block(a, {}, {false, true, {}, 0}, options); };
    const BlockPlan plan = plan_of(board);
    REQUIRE(plan.choice() != nullptr);
    const EngineInfo &info = info_of(Engine::planar);
    const std::string bytes = info.saved(*plan.choice()->plan, true);
    const LineClasses kinds;
    const Structure structure;
    const auto restored = [&](const std::string &from, const Pattern &a) {
        const Pattern transposed = transpose(a).pattern;
        Candidate again = *plan.choice();
        again.plan = info.restored(from, 0, {a, transposed, kinds, structure, plan.numbers, options});
        info.check(again);
        return again.plan->matrix_products();
    };
    CHECK(restored(bytes, board) == plan.choice()->plan->matrix_products());
    CHECK(restored("b", board) == restored("r", board));
    const std::string one_crossing = "r" + written(std::vector<std::int32_t>{0});
    for (const std::string &forged : {std::string(), std::string("x"), bytes + "r", one_crossing})
        CHECK_THROWS_AS(restored(forged, board), DamagedField);
    for (const Pattern &other :
         {graphs::complete(6, false), graphs::complete(4, true), graph_of(4, {{0, 1}})})
        CHECK_THROWS_AS(restored(bytes, other), DamagedField);

    for (const Pattern &other : {graphs::complete(6, false), graphs::complete(4, true)}) {
        const BlockPlan refused = plan_of(other);
        CHECK(refused.choice() == nullptr);
        CHECK(refused.refusal == PERM_UNSUPPORTED);
        CHECK(refused.refusal_text.find("without crossings in the plane") != std::string::npos);
    }
    options.engine = Engine::automatic;
    for (const Candidate &c : plan_of(graphs::complete(20, false)).candidates)
        CHECK(c.engine != Engine::planar);
}
