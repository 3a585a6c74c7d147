// Perfect matchings of graphs, and entries that are in none, against a search over all sets of lines.
#include "preprocess/graph_parts.hpp"
#include "tests/lib/bjorklund/graphs.hpp"
#include "tests/support/graph_matchings.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

using namespace libperm;
using graphs::at;
using perm::families::Random;

namespace {

// Whether the lines of a set can be matched.
class Matchable {
  public:
    explicit Matchable(const Pattern &graph) : of_set_(std::size_t{1} << graph.rows, 0) {
        of_set_[0] = 1;
        for (std::size_t set = 1; set < of_set_.size(); ++set) {
            const int first = std::countr_zero(set);
            for (const std::int32_t j : graph.row(first)) {
                const std::size_t both = std::size_t{1} << first | std::size_t{1} << j;
                if ((set & both) == both && of_set_[set & ~both]) of_set_[set] = 1;
            }
        }
    }
    bool all() const { return of_set_.back() != 0; }
    bool all_but(std::int32_t i, std::int32_t j) const {
        return of_set_[(of_set_.size() - 1) & ~(std::size_t{1} << i | std::size_t{1} << j)] != 0;
    }

  private:
    std::vector<char> of_set_;
};

void check_matching(const Pattern &graph, const Matching &matching) {
    CHECK(matching.row_of_col == matching.col_of_row);
    for (std::int32_t i = 0; i < graph.rows; ++i) {
        const std::int32_t j = matching.col_of_row[at(i)];
        CHECK(matching.col_of_row[at(j)] == i);
        const auto row = graph.row(std::min(i, j));
        CHECK(std::ranges::count(row, std::max(i, j)) == 1);
    }
}

// Knots of a few lines on a string of single entries: odd ones are matched along it, even ones are not.
Pattern knots(std::int32_t n, bool with_loops, Random &random) {
    std::vector<std::int32_t> knot;
    for (std::int32_t k = 0; std::ssize(knot) < n; ++k) knot.insert(knot.end(), at(random.integer(1, 5)), k);
    knot.resize(at(n));
    const double density = random.uniform(0.5, 1), between = random.uniform(0, 0.3);
    return graphs::pattern(n, [&](std::int32_t i, std::int32_t j) {
        if (i == j) return with_loops && random.chance(0.2);
        const bool is_string = j == i + 1 && knot[at(i)] != knot[at(j)];
        return is_string || random.chance(knot[at(i)] == knot[at(j)] ? density : between / n);
    });
}

} // namespace

TEST_CASE("entries that are in some perfect matching, and no others, are kept") {
    Random random(run::seed(3911));
    int matched = 0, unmatched = 0, kept = 0, dropped = 0, loops_dropped = 0, close = 0;
    for (int trial = 0; trial < run::cases(1500); ++trial) {
        const auto n = static_cast<std::int32_t>(random.integer(1, trial % 10 == 0 ? 14 : 9));
        const bool with_loops = random.chance(0.4);
        const Pattern graph = trial % 2 == 0
                                  ? knots(n, with_loops, random)
                                  : graphs::random_pattern(n, with_loops, random.uniform(0.15, 1), random);
        CAPTURE(trial);
        CAPTURE(n);
        const Matchable matchable(graph);
        const std::optional<Matching> matching = perfect_matching(graph);
        REQUIRE(matching.has_value() == matchable.all());
        CHECK(has_perfect_matching(graph) == matchable.all());
        ++(matching ? matched : unmatched);
        if (!matching) continue;
        check_matching(graph, *matching);
        const std::vector<char> is_used = entries_in_matchings(graph, *matching);
        close += 8 * graph.nnz() > 7 * n * (n - 1) / 2 && n > 6; // most lines have most others
        std::size_t k = 0;
        for (std::int32_t i = 0; i < n; ++i)
            for (const std::int32_t j : graph.row(i)) {
                CAPTURE(i);
                CAPTURE(j);
                const bool is_in_one = matchable.all_but(i, j);
                CHECK((is_used[k++] != 0) == is_in_one);
                ++(is_in_one ? kept : dropped);
                loops_dropped += i == j && !is_in_one;
            }
    }
    CHECK(matched > run::enough(500));
    CHECK(unmatched > run::enough(100));
    CHECK(kept > run::enough(2000));
    CHECK(dropped > run::enough(500));
    CHECK(loops_dropped > run::enough(20));
    CHECK(close > run::enough(20));
}

TEST_CASE("hafnians of graphs that fall apart so are what they were") {
    Random random(run::seed(3912));
    int nonzero = 0, dropped = 0, loops = 0;
    for (const DrawnKind &kind : kinds_of_numbers)
        for (int trial = 0; trial < run::cases(60); ++trial) {
            const auto n = static_cast<std::int32_t>(random.integer(4, 14));
            const bool with_loops = random.chance(0.4);
            const Pattern graph = knots(n, with_loops, random);
            DrawnGraph drawn{{}, with_loops ? "loop_hafnian" : "hafnian", {}};
            drawn.matrix.cols = n;
            drawn.matrix.entries.assign(at(n), std::vector<Gaussian>(at(n)));
            for (std::int32_t i = 0; i < n; ++i)
                for (const std::int32_t j : graph.row(i))
                    drawn.matrix.entries[at(i)][at(j)] = drawn.matrix.entries[at(j)][at(i)] =
                        kind.draw(random);
            canonicalize(drawn.matrix);
            drawn.truth = oracle::over_pairs(drawn.matrix, with_loops);
            nonzero += !is_zero(drawn.truth);
            const MatchingInput input(drawn.matrix, kind.type, random);
            CAPTURE(kind.name);
            CAPTURE(trial);
            for (const char *without : {"", "d1,d2", "dm"}) {
                perm_opts opts = of_function(drawn.function);
                opts.without = without;
                check_gaussian(*perm::compute(input.csr(), opts).raw(), drawn.truth);
                const bool tells = perm::Plan(input.csr(), opts).explain().find("in no perfect matching") !=
                                   std::string::npos;
                if (std::string_view(without) == "dm") CHECK(!tells);
                dropped += tells;
                loops += tells && with_loops;
            }
        }
    CHECK(nonzero > run::enough(100));
    CHECK(dropped > run::enough(50));
    CHECK(loops > run::enough(10));
}

// Knots of five lines, each with one of the next: those that are matched along the string are so in all
// matchings.
TEST_CASE("on a long string of odd knots what is not told within the bound of steps stays") {
    for (const std::int32_t knots : {100, 2000}) {
        const std::int32_t n = 5 * knots;
        Pattern graph{n, n, {0}, {}, true};
        std::vector<char> is_in_one;
        for (std::int32_t i = 0; i < n; ++i) {
            const std::int32_t knot = i / 5, end = 5 * knot + 5, taken = knot % 2 == 0 ? end - 1 : end - 5;
            for (std::int32_t j = i + 1; j < end; ++j) {
                graph.col.push_back(j);
                is_in_one.push_back(i != taken && j != taken);
            }
            if (i == end - 1 && end < n) {
                graph.col.push_back(end);
                is_in_one.push_back(knot % 2 == 0);
            }
            graph.row_ptr.push_back(static_cast<std::int64_t>(graph.col.size()));
        }
        const std::optional<Matching> matching = perfect_matching(graph);
        REQUIRE(matching.has_value());
        const std::vector<char> is_used = entries_in_matchings(graph, *matching);
        int wrong = 0, told = 0, left = 0;
        for (std::size_t k = 0; k < is_used.size(); ++k) {
            wrong += is_in_one[k] && !is_used[k];
            told += !is_in_one[k] && !is_used[k];
            left += !is_in_one[k] && is_used[k];
        }
        CHECK(wrong == 0);
        CHECK(told > 50);
        CHECK((left == 0) == (knots == 100));
    }
}
