// Tapes of random trees: derivatives and samples against exact minors and the exact law.
#include "lib/input/options.hpp"
#include "lib/run/call.hpp"
#include "lib/run/results.hpp"
#include "lib/samples/part_shots.hpp"
#include "lib/tape/gradient.hpp"
#include "lib/tape/tape_steps.hpp"
#include "tests/support/branch_cases.hpp"
#include "tests/support/polled.hpp"
#include "tests/support/run.hpp"
#include "tests/support/wide_cases.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

using namespace libperm;
using namespace wide;
using branch_cases::Leaves;

namespace {

constexpr Leaves all_leaves[] = {Leaves::rows, Leaves::columns, Leaves::entries, Leaves::mixed};
constexpr std::int64_t any_size = 1 << 24;

std::optional<Tape> tape_on(const Pattern &a, const BranchDecomposition &tree,
                            std::int64_t most_moves = any_size) {
    const BranchProgram branches = build_branch_program(a, tree);
    REQUIRE(branches.feasible);
    return make_tape(branches.program, a, most_moves);
}

// A matrix of doubles, with the tape of a random tree.
struct Tried {
    Case c;
    Plan plan;
    std::vector<double> values;
    Tape tape;

    Tried(std::int64_t n, double density, Entries kind, int trial, Random &random, int bits = 0)
        : c(make_case(n, density, kind, false, Order::shuffled, random)) {
        if (bits > 0) make_integer(c, bits);
        const bool complex = !is_real(kind);
        std::size_t k = 0;
        for (std::int32_t i = 0; i < c.block.pattern.rows; ++i)
            for (const std::int32_t j : c.block.pattern.row(i)) {
                Gaussian &x = c.rows[at(i)][at(j)];
                x = c.block.values[k++] = {mpq_class(x.re.get_d()), mpq_class(x.im.get_d())};
                values.push_back(x.re.get_d());
                if (complex) values.push_back(x.im.get_d());
            }
        plan.input.pattern = c.block.pattern;
        plan.input.value_type = complex ? PERM_VALUE_C128 : PERM_VALUE_F64;
        tape = *tape_on(c.block.pattern,
                        branch_cases::random_tree(c.block.pattern, all_leaves[trial % 4], random));
    }

    std::size_t parts() const { return plan.input.value_type == PERM_VALUE_C128 ? 2 : 1; }

    Gaussian minor(std::int32_t i, std::int32_t j) const {
        Rows minor = c.rows;
        minor.erase(minor.begin() + i);
        for (auto &row : minor) row.erase(row.begin() + j);
        return minor.empty() ? Gaussian{1, 0} : oracle::by_subsets(minor);
    }
};

void check_tape(const Tape &tape, const Pattern &a) {
    REQUIRE(tape.lists.size() + 1 == tape.first_state.size());
    REQUIRE(tape.first_move.size() == at(tape.states()) + 1);
    REQUIRE(tape.first_move.back() == tape.moves.size());
    CHECK(!tape.is_path);
    std::vector<int> used(tape.lists.size(), 0); // each list but the last leads to one
    std::vector<std::set<std::uint32_t>> met(tape.lists.size());
    for (std::size_t l = 0; l < tape.lists.size(); ++l) {
        const TapeList &from = tape.lists[l];
        if (from.begins()) {
            CHECK(tape.states_of(static_cast<std::int32_t>(l)) == 1);
            continue;
        }
        for (const std::int32_t source : {from.before, from.other}) {
            if (source < 0) continue;
            REQUIRE(at(source) < l);
            ++used[at(source)];
        }
        for (std::uint32_t s = tape.first_state[l]; s < tape.first_state[l + 1]; ++s) {
            CHECK((tape.moves.empty() || tape.first_move[s] < tape.first_move[s + 1]));
            for (std::uint32_t k = tape.first_move[s]; k < tape.first_move[s + 1]; ++k) {
                const TapeMove move = tape.moves[k];
                REQUIRE(move.source < tape.states_of(from.before));
                REQUIRE(move.entry < (from.is_join() ? tape.states_of(from.other) : a.nnz() + 1));
                met[at(from.before)].insert(move.source);
                if (from.is_join()) met[at(from.other)].insert(move.entry);
            }
        }
    }
    for (std::size_t l = 0; l + 1 < tape.lists.size(); ++l) {
        CHECK(used[l] == 1);
        if (!tape.moves.empty()) // no state that leads nowhere
            CHECK(met[l].size() == tape.states_of(static_cast<std::int32_t>(l)));
    }
}

bool within(const Gaussian &found, const Gaussian &truth, double bound) {
    const oracle::Exact re = found.re - truth.re, im = found.im - truth.im, error(bound);
    return re * re + im * im <= error * error;
}

} // namespace

TEST_CASE("derivatives along a tree lie within their bounds of exact minors") {
    Random random(run::seed(0x74617065));
    constexpr Entries kinds[] = {Entries::nonnegative, Entries::real,       Entries::complex,
                                 Entries::units,       Entries::cancelling, Entries::far_signed};
    int compared = 0, exact = 0, none = 0, joins = 0;
    for (int trial = 0; trial < run::cases(400); ++trial) {
        CAPTURE(trial);
        const Entries kind = kinds[trial / 4 % 6];
        const std::int64_t n = trial < 40 ? 1 + trial / 8 : random.integer(2, 9);
        const bool whole = is_real(kind) && kind != Entries::far_signed && trial % 3 == 0;
        Tried t(n, random.uniform(0.05, 0.6), kind, trial, random, whole ? 3 : 0);
        check_tape(t.tape, t.c.block.pattern);
        for (const TapeList &from : t.tape.lists) joins += from.is_join();
        none += t.tape.moves.empty();
        CurrentCall control(t.plan.options);
        const Gradient gradient(t.plan, t.tape);
        std::vector<double> found(t.values.size()), bounds(t.c.block.values.size());
        Outcome outcome;
        const TapeAnswer answer = gradient.run(t.plan, t.values.data(), found.data(), bounds.data(), outcome);
        const Gaussian permanent = t.c.permanent(), value{exactly(answer.re), exactly(answer.im)};
        const oracle::Exact re = value.re - permanent.re, im = value.im - permanent.im,
                            error = exactly(answer.error);
        CHECK(re * re + im * im <= error * error);
        std::size_t k = 0;
        for (std::int32_t i = 0; i < t.c.block.pattern.rows; ++i)
            for (const std::int32_t j : t.c.block.pattern.row(i)) {
                CAPTURE(k);
                const std::size_t parts = t.parts(), first = k * parts;
                const Gaussian truth = t.minor(i, j);
                const double bound = bounds[k++];
                if (std::isinf(bound)) continue; // beyond the range of doubles
                CHECK(within({mpq_class(found[first]), mpq_class(parts == 2 ? found[first + 1] : 0.0)}, truth,
                             bound));
                if (kind == Entries::nonnegative) CHECK(bound <= 1e-12 * std::fabs(found[first]));
                exact += bound == 0 && !is_zero(truth);
                ++compared;
            }
    }
    CHECK(compared > run::enough(4000));
    CHECK(exact > run::enough(200));
    CHECK(none < 40);
    CHECK(joins > run::enough(300));
}

TEST_CASE("samples along a tree have the law of the matchings' products") {
    Random random(run::seed(0x74617066));
    constexpr std::uint32_t shots = 4000;
    double chi_square = 0, freedom = 0;
    int compared = 0;
    for (int trial = 0; trial < run::cases(60); ++trial) {
        CAPTURE(trial);
        Tried t(random.integer(1, 5), random.uniform(0.2, 0.8), Entries::nonnegative, trial, random);
        const Pattern &a = t.c.block.pattern;
        // A value of 0 is no entry: here the sampler is given numbers above 0.
        std::vector<Tracked> entries;
        std::vector<double> values;
        for (const double x : t.values) values.push_back(std::max(x, 0.125));
        for (const double x : values) entries.push_back(tracked(x));
        if (t.tape.moves.empty()) continue;
        const TapeSampler sampler(t.tape, entries, random.bits());
        std::vector<std::uint32_t> taken;
        sampler.draw(0, shots, taken);
        REQUIRE(taken.size() == at(a.rows) * shots);
        std::map<std::vector<std::uint32_t>, double> counts;
        for (std::uint32_t shot = 0; shot < shots; ++shot) {
            std::vector<std::uint32_t> matching;
            for (std::size_t r = 0; r < at(a.rows); ++r) matching.push_back(taken[r * shots + shot]);
            std::sort(matching.begin(), matching.end());
            ++counts[matching];
        }
        // All matchings, by the columns of the rows so far.
        std::map<std::vector<std::uint32_t>, double> law;
        double sum = 0;
        const std::function<void(std::vector<std::uint32_t>, double)> go =
            [&](std::vector<std::uint32_t> so_far, double weight) {
                const auto i = static_cast<std::int32_t>(so_far.size());
                if (i == a.rows) {
                    law[so_far] = weight;
                    sum += weight;
                    return;
                }
                for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
                    const bool free = std::none_of(so_far.begin(), so_far.end(),
                                                   [&](std::uint32_t e) { return a.col[e] == a.col[at(k)]; });
                    if (!free) continue;
                    std::vector<std::uint32_t> next = so_far;
                    next.push_back(static_cast<std::uint32_t>(k));
                    go(std::move(next), weight * values[at(k)]);
                }
            };
        go({}, 1);
        for (const auto &[matching, count] : counts) CHECK(law.contains(matching)); // and nothing else
        double rare = 0, rare_expected = 0, bins = 0;
        const auto add = [&](double count, double expected) {
            chi_square += (count - expected) * (count - expected) / expected;
            ++bins;
        };
        for (const auto &[matching, weight] : law) {
            const double expected = shots * weight / sum;
            if (expected >= 5) {
                add(counts[matching], expected);
            } else {
                rare += counts[matching];
                rare_expected += expected;
            }
        }
        if (rare_expected >= 5) add(rare, rare_expected);
        freedom += bins - 1;
        ++compared;
        // The first of many are those of few.
        std::vector<std::uint32_t> few;
        sampler.draw(0, 50, taken);
        sampler.draw(7, 3, few);
        for (std::size_t r = 0; r < at(a.rows); ++r)
            for (std::size_t k = 0; k < 3; ++k) CHECK(few[r * 3 + k] == taken[r * 50 + 7 + k]);
    }
    CHECK(compared > run::enough(40));
    CHECK(freedom > run::enough(200));
    const double v = 2 / (9 * freedom); // Wilson and Hilferty
    CHECK(std::fabs((std::cbrt(chi_square / freedom) - (1 - v)) / std::sqrt(v)) < 5);
}

TEST_CASE("no tape of more moves than allowed, and none of a matrix with an empty line") {
    Random random(run::seed(0x74617067));
    for (int trial = 0; trial < run::cases(40); ++trial) {
        CAPTURE(trial);
        const Case c = make_case(random.integer(2, 8), random.uniform(0.1, 0.6), Entries::nonnegative, false,
                                 Order::shuffled, random);
        const Pattern &a = c.block.pattern;
        const BranchDecomposition tree = branch_cases::random_tree(a, all_leaves[trial % 4], random);
        const BranchProgram branches = build_branch_program(a, tree);
        std::int64_t bound = 0;
        for (const FrontierStep &s : branches.program.steps)
            bound += static_cast<std::int64_t>(std::ceil(s.expansions_bound));
        for (const FrontierBranch &b : branches.program.branches)
            if (b.joined[0] >= 0) bound += static_cast<std::int64_t>(std::ceil(b.join.products_bound));
        const std::optional<Tape> tape = tape_on(a, tree, bound + 1);
        REQUIRE(tape); // what is met is bounded
        std::int64_t most = std::ssize(tape->moves) - 1;
        if (most >= 0) CHECK(!tape_on(a, tree, most));
        const PolledBy stop([] { throw std::runtime_error("stop"); });
        CHECK_THROWS_AS(make_tape(branches.program, a, any_size), std::runtime_error);
    }
    Pattern empty_line; // its last row and column
    empty_line.rows = empty_line.cols = 2;
    empty_line.row_ptr = {0, 1, 1};
    empty_line.col = {0};
    BranchDecomposition one;
    one.leaves.push_back({BranchLeaf::Kind::row, 0, -1});
    const std::optional<Tape> none = tape_on(empty_line, one);
    REQUIRE(none);
    CHECK(none->moves.empty());
}

TEST_CASE("networks go along trees, grids and dense matrices along paths, whatever the threads") {
    const struct {
        perm::Csr a;
        bool is_path;
    } cases[] = {{perm::families::roads(400, perm::families::Entries::ones, 1), false},
                 {perm::families::power_network(40, perm::families::Entries::ones, 1), true},
                 {perm::families::grid(12, 8), true},
                 {perm::families::erdos_renyi(16, 0.9, perm::families::Entries::ones, 2), true}};
    for (const auto &[a, is_path] : cases) {
        Pattern p;
        p.rows = p.cols = static_cast<std::int32_t>(a.n_rows);
        p.row_ptr = a.row_ptr;
        for (const std::int64_t j : a.col_idx) p.col.push_back(static_cast<std::int32_t>(j));
        Options options;
        options.memory_limit = std::int64_t{1} << 30;
        std::vector<Tape> tapes;
        for (const int threads : {1, 4}) {
            options.threads = threads;
            CurrentCall control(options);
            tapes.push_back(long_tape({p}, options, "a test"));
        }
        CHECK(tapes[0].is_path == is_path);
        if (!is_path) check_tape(tapes[0], p);
        CHECK(tapes[0].first_move == tapes[1].first_move);
        CHECK(tapes[0].first_state == tapes[1].first_state);
    }
}

TEST_CASE("a tree of many entries: no recursion, and the exponents of long products") {
    // Ones beside the diagonal: Fibonacci's numbers, whose n-th has 0.69 n bits.
    const std::int32_t n = run::sanitized ? 3000 : 30000;
    Tried t(1, 1, Entries::nonnegative, 0, *std::make_unique<Random>(1));
    Pattern &a = t.plan.input.pattern;
    a = {};
    a.rows = a.cols = n;
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) a.col.push_back(j);
        a.row_ptr.push_back(std::ssize(a.col));
    }
    BranchDecomposition tree;
    std::vector<std::int32_t> nodes;
    for (std::int64_t k = 0; k < a.nnz(); ++k) {
        tree.leaves.push_back({BranchLeaf::Kind::entry, -1, k});
        nodes.push_back(static_cast<std::int32_t>(k));
    }
    while (nodes.size() > 1) { // neighbours, pairs of these and so on
        std::vector<std::int32_t> next;
        for (std::size_t k = 0; k < nodes.size(); k += 2) {
            if (k + 1 == nodes.size()) {
                next.push_back(nodes[k]);
                continue;
            }
            tree.joins.push_back({nodes[k], nodes[k + 1]});
            next.push_back(tree.nodes() - 1);
        }
        nodes = std::move(next);
    }
    CurrentCall control(t.plan.options);
    const std::optional<Tape> tape = tape_on(a, tree);
    REQUIRE(tape);
    const Gradient gradient(t.plan, *tape);
    const std::vector<double> ones(at(a.nnz()), 1);
    std::vector<double> shares(at(a.nnz()) + 2 * at(n)), bounds(shares.size());
    Outcome outcome;
    const TapeAnswer answer = gradient.marginals(t.plan, ones.data(), shares.data(), bounds.data(), outcome);
    mpz_class fibonacci;
    mpz_fib_ui(fibonacci.get_mpz_t(), static_cast<unsigned long>(n) + 1);
    CHECK(abs(exactly(answer.re) - fibonacci) <= exactly(answer.error));
    CHECK(answer.rel_error_bound < 1e-9);
    // The first entry's minor is the Fibonacci number before it.
    mpz_class before;
    mpz_fib_ui(before.get_mpz_t(), static_cast<unsigned long>(n));
    CHECK(abs(mpq_class(shares[0]) - mpq_class(before, fibonacci)) <= mpq_class(bounds[0]));
    double worst = 0;
    for (std::int32_t i = 0; i < n; ++i) { // a row's probabilities come to 1
        double sum = 0;
        for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k) sum += shares[at(k)];
        worst = std::max(worst, std::fabs(sum - 1));
    }
    CHECK(worst < 1e-10);
}
