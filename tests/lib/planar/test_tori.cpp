// Engine planar beyond the plane: tori of squares and of hexagons, some squares of them left out, planar
// boards with entries and lines that cross, and what is neither, against exact sums over sets.
#include "bench/families.hpp"
#include "lib/base/archive.hpp"
#include "lib/input/options.hpp"
#include "lib/planar/plan.hpp"
#include "lib/planar/planar.hpp"
#include "lib/structure/structure.hpp"
#include "preprocess/repeated_lines.hpp"
#include "tests/support/check.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace perm::families;
using oracle::Exact;

namespace {

using Square = std::pair<std::int64_t, std::int64_t>;

// Squares of two colours, rows and columns in any order, and whether two are neighbours.
class Lattice {
  public:
    void put(const Square &square, int colour) { squares_[colour].push_back(square); }

    // A square of each colour left out so many times.
    void leave_out(std::int64_t pairs, Random &random) {
        for (; pairs > 0 && !squares_[0].empty() && !squares_[1].empty(); --pairs)
            for (std::vector<Square> &of_colour : squares_)
                of_colour.erase(of_colour.begin() + random.integer(0, std::ssize(of_colour) - 1));
    }

    // weight(row, column): 0, they are no neighbours.
    template <class Weight> perm::Csr matrix(Random &random, const Weight &weight) const {
        const std::int64_t n = std::ssize(squares_[0]);
        REQUIRE(n == std::ssize(squares_[1]));
        const std::vector<std::int64_t> rows = random.permutation(n), cols = random.permutation(n);
        return build(n, n, [&](std::int64_t i, std::int64_t j) {
            return weight(squares_[0][static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])],
                          squares_[1][static_cast<std::size_t>(cols[static_cast<std::size_t>(j)])]);
        });
    }

  private:
    std::vector<Square> squares_[2];
};

std::int64_t modulo(std::int64_t x, std::int64_t n) { return ((x % n) + n) % n; }

// height even; round the sides of `width` columns it is shifted by `twist`, or turned over (Klein's bottle).
struct Shape {
    std::int64_t width, height, twist = 0;
    bool is_turned_over = false;
    Square joined(std::int64_t x, std::int64_t y) const {
        if (x < 0 || x >= width) y = is_turned_over ? -1 - y : y + (x < 0 ? -twist : twist);
        return {modulo(x, width), modulo(y, height)};
    }
};

perm::Csr squares(const Shape &shape, std::int64_t left_out, Entries entries, Random &random) {
    Lattice lattice;
    std::map<Square, int> colour{{{0, 0}, 0}};
    std::vector<Square> todo{{0, 0}};
    const auto around = [&](const Square &s) {
        return std::vector<Square>{shape.joined(s.first - 1, s.second), shape.joined(s.first + 1, s.second),
                                   shape.joined(s.first, s.second - 1), shape.joined(s.first, s.second + 1)};
    };
    while (!todo.empty()) { // by two colours
        const Square s = todo.back();
        todo.pop_back();
        lattice.put(s, colour[s]);
        for (const Square &other : around(s))
            if (colour.emplace(other, 1 - colour[s]).second)
                todo.push_back(other);
            else
                REQUIRE(colour[other] == 1 - colour[s]);
    }
    lattice.leave_out(left_out, random);
    return lattice.matrix(random, [&](const Square &row, const Square &col) {
        double weight = 0;
        for (const Square &other : around(row))
            if (other == col) weight += random_entry(entries, random);
        return weight;
    });
}

// Round each black corner of the hexagons three white ones.
perm::Csr hexagons(const Shape &shape, std::int64_t left_out, Entries entries, Random &random) {
    Lattice lattice;
    for (std::int64_t x = 0; x < shape.width; ++x)
        for (std::int64_t y = 0; y < shape.height; ++y)
            for (const int colour : {0, 1}) lattice.put({x, y}, colour);
    lattice.leave_out(left_out, random);
    return lattice.matrix(random, [&](const Square &row, const Square &col) {
        double weight = 0;
        for (const Square &other :
             {row, shape.joined(row.first + 1, row.second), shape.joined(row.first, row.second + 1)})
            if (other == col) weight += random_entry(entries, random);
        return weight;
    });
}

// A board of width x height squares and so many more entries, anywhere or in one line.
perm::Csr crossed(std::int64_t width, std::int64_t height, std::int64_t crossings, bool in_a_line,
                  Entries entries, Random &random) {
    Lattice lattice;
    for (std::int64_t x = 0; x < width; ++x)
        for (std::int64_t y = 0; y < height; ++y) lattice.put({x, y}, static_cast<int>((x + y) % 2));
    Dense dense = to_dense(lattice.matrix(random, [&](const Square &row, const Square &col) {
        const auto away = std::abs(row.first - col.first) + std::abs(row.second - col.second);
        return away == 1 ? random_entry(entries, random) : 0.0;
    }));
    const std::int64_t n = std::ssize(dense), line = random.integer(0, n - 1);
    for (; crossings > 0; --crossings) {
        const std::int64_t i = in_a_line ? line : random.integer(0, n - 1);
        dense[static_cast<std::size_t>(i)][static_cast<std::size_t>(random.integer(0, n - 1))] =
            random_entry(entries, random);
    }
    return from_dense(dense);
}

Exact number(const std::string &text) { return Exact(mpq_class(text)); }

struct Seen {
    int right = 0, nonzero = 0, unsupported = 0;
};

// By the engine, with and without reductions, in the call's numbers and exactly.
void check_planar(const perm::Csr &a, Seen &seen) {
    CAPTURE(describe(a));
    const Exact truth = oracle::by_frontier(a);
    for (const char *without : {"", "all"}) {
        perm_opts opts = with_engine("planar");
        opts.without = without;
        try {
            perm::Result r = perm::compute(a, opts);
            check_result(*r.raw(), truth);
            if (truth != 0) CHECK(r->rel_error_bound <= 1e-9);
            opts.precision = "exact";
            perm::Result exact = perm::compute(a, opts);
            CHECK(number(exact.text()) == truth);
            ++seen.right;
            if (truth != 0) ++seen.nonzero;
        } catch (const perm::Error &error) {
            CHECK(error.status() == PERM_UNSUPPORTED);
            ++seen.unsupported;
        }
    }
}

perm::Csr of_ones(perm::Csr a) {
    a.values.assign(a.values.size(), 1);
    return a;
}

std::string drawing_of(const perm::Csr &a) {
    const std::string text = perm::Plan(a, with_engine("planar")).explain();
    const std::size_t place = text.find("planar: drawn ");
    return place == std::string::npos ? "" : text.substr(place + 14, text.find('\n', place) - place - 14);
}

// Whatever would be cheaper.
libperm::Ball in_balls(const perm::Csr &a, std::shared_ptr<const libperm::EnginePlan> plan) {
    libperm::Block block;
    block.pattern = pattern_of(a);
    for (const double x : a.values) block.values.push_back(libperm::tracked(x));
    libperm::Candidate choice;
    choice.engine = libperm::Engine::planar;
    choice.plan = std::move(plan);
    const libperm::Options options;
    libperm::GpuQueues gpus(options);
    const libperm::EngineRun run{choice, options, libperm::call().memory(), gpus};
    return std::get<libperm::Ball>(libperm::run_planar(run, block).value);
}

std::optional<libperm::Ball> in_balls(const perm::Csr &a) {
    const libperm::Pattern pattern = pattern_of(a);
    std::optional<libperm::PlanarPlan> plan = libperm::plan_planar(pattern);
    if (!plan) plan = libperm::plan_beyond_plane(pattern, 10);
    if (!plan) return {};
    plan->by_residues = false;
    return in_balls(a, std::make_shared<const libperm::PlanarPlan>(*std::move(plan)));
}

} // namespace

TEST_CASE("tori of squares with weights, turned and with squares left out") {
    Random random(run::seed(0x746f31));
    Seen seen;
    for (int k = 0; k < run::cases(300); ++k) {
        Shape shape{random.integer(2, 6), 2 * random.integer(2, 3)};
        shape.twist = 2 * random.integer(0, 1) + shape.width % 2;
        if (shape.width * shape.height > 36) shape.width = 4;
        shape.twist -= (shape.twist + shape.width) % 2;
        check_planar(squares(shape, random.integer(0, 3), static_cast<Entries>(k % 5), random), seen);
    }
    CHECK(seen.nonzero > run::enough(300));
    CHECK(seen.right > 4 * seen.unsupported);
}

TEST_CASE("tori of hexagons with weights, turned and with corners left out") {
    Random random(run::seed(0x746f32));
    Seen seen;
    for (int k = 0; k < run::cases(300); ++k) {
        const Shape shape{random.integer(2, 4), random.integer(2, 4), random.integer(0, 2)};
        check_planar(hexagons(shape, random.integer(0, 2), static_cast<Entries>(k % 5), random), seen);
    }
    CHECK(seen.nonzero > run::enough(300));
    CHECK(seen.right > 4 * seen.unsupported);
}

TEST_CASE("Klein's bottles are told, or right") {
    Random random(run::seed(0x746f33));
    Seen seen;
    for (int k = 0; k < run::cases(60); ++k) {
        const Shape shape{3 + 2 * random.integer(0, 1), 4 + 2 * random.integer(0, 1), 0, true};
        check_planar(squares(shape, random.integer(0, 2), static_cast<Entries>(k % 5), random), seen);
    }
    CHECK(seen.right > 0);
}

TEST_CASE("boards with entries that cross") {
    Random random(run::seed(0x746f34));
    Seen seen;
    for (int k = 0; k < run::cases(300); ++k) {
        const perm::Csr a = crossed(random.integer(3, 6), 6, random.integer(1, 12), random.chance(0.3),
                                    static_cast<Entries>(k % 5), random);
        check_planar(a, seen);
    }
    CHECK(seen.nonzero > run::enough(300));
}

TEST_CASE("dominoes on tori by default: A335586, and larger ones") {
    Random random(run::seed(0x746f35));
    for (const auto &[side, known] :
         std::map<std::int64_t, std::string>{{4, "272"},
                                             {6, "90176"},
                                             {8, "311853312"},
                                             {20, "1078954848193193029138563587057364813268127147098112"}}) {
        const perm::Csr a = squares({side, side}, 0, Entries::ones, random);
        CHECK(drawing_of(a) == "on a torus, 4 determinants");
        perm_opts opts = PERM_OPTS_INIT;
        opts.precision = "exact";
        perm::Result r = perm::compute(a, opts);
        CHECK(r.text() == known);
        if (side == 20) CHECK(std::string(r->engine) == "planar");
    }
}

TEST_CASE("a torus in doubles, of which one determinant is 0") {
    Random random(run::seed(0x746f36));
    perm::Csr a = squares({20, 20}, 0, Entries::ones, random);
    for (double &x : a.values) x = 0.1; // times 10^200, all but exactly
    perm::Result r = perm::compute(a);
    CHECK(std::string(r->engine) == "planar");
    CHECK(r->rel_error_bound <= 1e-9);
    Exact truth = number("1078954848193193029138563587057364813268127147098112");
    for (int k = 0; k < 200; ++k) truth *= Exact(0.1);
    check_result(*r.raw(), truth);
    const perm::Csr weighted = squares({16, 12}, 5, Entries::real, random);
    perm::Result rounded = perm::compute(weighted, with_engine("planar"));
    perm_opts exact = with_engine("planar");
    exact.precision = "exact";
    check_result(*rounded.raw(), number(perm::compute(weighted, exact).text()));
}

TEST_CASE("balls of determinants that cancel, and of those that are 0") {
    Random random(run::seed(0x746f3b));
    int near = 0, zero = 0;
    for (int k = 0; k < run::cases(400); ++k) {
        const auto entries = static_cast<Entries>(k % 5);
        perm::Csr a = k % 4 == 0 ? crossed(4, 4, 4, false, entries, random)
                      : k % 4 == 1
                          ? hexagons({3, random.integer(2, 4), 1}, random.integer(0, 1), entries, random)
                          : squares({4, random.integer(2, 3) * 2}, random.integer(0, 1), entries, random);
        if (random.chance(0.3)) // so that 0 is met, and what is next to it
            for (double &x : a.values) x = random.chance(0.5) ? -0.1 : 0.1;
        CAPTURE(describe(a));
        const Exact truth = oracle::by_frontier(a);
        if (oracle::by_frontier(of_ones(a)) == 0) continue; // no perfect matching
        const auto ball = in_balls(a);
        if (!ball) continue;
        const Exact value = exactly(ball->value), error = exactly(ball->error);
        CHECK(abs(value - truth) <= error);
        if (truth != 0) {
            CHECK(error <= abs(truth) * Exact(0x1p-49));
            ++near;
        } else {
            CHECK(error <= Exact(0x1p-400)); // of numbers between 2^-60 and 2^60
            ++zero;
        }
    }
    CHECK(near > run::enough(200));
    CHECK(zero >= run::enough(4));
}

TEST_CASE("what is found in large boards") {
    Random random(run::seed(0x746f37));
    CHECK(drawing_of(squares({30, 30}, 40, Entries::ones, random)).find("on a torus") == 0);
    CHECK(drawing_of(hexagons({14, 16, 3}, 10, Entries::ones, random)).find("on a torus") == 0);
    CHECK(drawing_of(crossed(30, 30, 3, false, Entries::ones, random)).find("in the plane but for ") == 0);
    CHECK(drawing_of(crossed(30, 30, 100, true, Entries::ones, random)).find("in the plane but for ") == 0);
}

TEST_CASE("the same bits on one thread and two, in pieces, and from a saved plan") {
    Random random(run::seed(0x746f38));
    for (const perm::Csr &a :
         {squares({14, 14}, 3, Entries::real, random), crossed(16, 16, 3, false, Entries::counts, random)})
        for (const char *precision : {"double", "exact"}) {
            perm_opts opts = with_engine("planar");
            opts.precision = precision;
            opts.threads = 1;
            perm::Result one = perm::compute(a, opts);
            opts.threads = 2;
            const perm::Plan plan(a, opts);
            perm::Result two = plan.execute(a.values.data());
            check_same_bits(*one.raw(), *two.raw());
            const perm::Plan loaded = perm::Plan::load(plan.save(), opts);
            perm::Result again = loaded.execute(a.values.data());
            check_same_bits(*one.raw(), *again.raw());
            const perm::Task task = perm::Task::plan(loaded, a.values.data());
            std::vector<std::string> parts;
            for (std::int64_t k = 0; k < task.shards(); ++k) parts.push_back(task.run_shard(k));
            perm::Result combined = std::move(task.combine(parts).front());
            check_same_bits(*one.raw(), *combined.raw());
        }
}

TEST_CASE("limits and cancelling") {
    Random random(run::seed(0x746f39));
    const perm::Csr a = squares({60, 60}, 0, Entries::counts, random);
    perm_opts opts = with_engine("planar");
    opts.memory_limit_bytes = 1 << 20;
    CHECK_THROWS_AS(perm::compute(a, opts), perm::Error);
    opts.memory_limit_bytes = 0;
    int left = 0; // callbacks come every tenth of a second
    opts.cancel = [](void *user) { return --*static_cast<int *>(user) < 0 ? 1 : 0; };
    opts.cancel_user = &left;
    try {
        perm::compute(a, opts);
        FAIL("it was not cancelled");
    } catch (const perm::Error &error) {
        CHECK(error.status() == PERM_CANCELLED);
    }
}

TEST_CASE("a forged plan is none, or one of the block") {
    Random random(run::seed(0x746f3a));
    const perm::Csr a = crossed(6, 6, 4, false, Entries::counts, random);
    const libperm::Pattern pattern = pattern_of(a);
    const libperm::Pattern transposed = libperm::transpose(pattern).pattern;
    const libperm::LineClasses kinds;
    const libperm::Structure structure;
    const libperm::Numbers numbers;
    const libperm::Options options;
    const Exact truth = oracle::by_frontier(a); // an integer below 2^53
    int plans = 0, damaged = 0;
    for (int k = 0; k < run::cases(2000); ++k) {
        std::vector<std::int32_t> crossings;
        for (std::int64_t left = random.integer(0, 12); left > 0; --left)
            crossings.push_back(static_cast<std::int32_t>(random.integer(-1, pattern.nnz())));
        if (random.chance(0.9)) {
            const std::set<std::int32_t> sorted(crossings.begin(), crossings.end());
            crossings.assign(sorted.begin(), sorted.end());
        }
        std::string bytes = (random.chance(0.5) ? "r" : "b") + libperm::written(crossings);
        if (random.chance(0.2)) bytes.resize(static_cast<std::size_t>(random.integer(0, std::ssize(bytes))));
        if (random.chance(0.2) && !bytes.empty())
            bytes[static_cast<std::size_t>(random.integer(0, std::ssize(bytes) - 1))] ^= 1;
        try {
            const auto plan =
                libperm::restored_planar(bytes, {pattern, transposed, kinds, structure, numbers, options});
            CHECK(exactly(in_balls(a, plan).value) == truth);
            ++plans;
        } catch (const libperm::DamagedField &) {
            ++damaged;
        }
    }
    CHECK(plans > 0);
    CHECK(damaged > 0);
}
