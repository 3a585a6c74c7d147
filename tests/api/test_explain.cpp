// What a plan of many blocks says of itself.
#include "bench/families.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace perm::families;
using nlohmann::json;
using oracle::Exact;

// ---------------------------------------------------------------- explaining

namespace {

// What must hold in every plan.
void check_explained(const perm::Plan &plan) {
    const json p = explained(plan);
    CAPTURE(p.dump(1));
    double blocks = 0, sum_n = 0, sum_nnz = 0;
    bool all_shown = true;
    for (const json &group : p.at("groups")) {
        const auto count = group.at("blocks").get<double>();
        CHECK(count > 0);
        CHECK(group.at("seconds").get<double>() >= 0);
        blocks += count;
        if (!group.contains("n")) { // the others
            all_shown = false;
            continue;
        }
        CHECK(group.contains(group.at("engine") == "frontier" ? "states" : "subsets"));
        CHECK(group.contains("form") == (group.at("engine") == "frontier"));
        sum_n += count * group.at("n").get<double>();
        sum_nnz += count * group.at("average_nnz").get<double>();
    }
    CHECK(blocks == p.at("blocks").get<double>());
    CHECK(p.at("groups").size() <= 21);
    CHECK(p.at("different_blocks") <= p.at("blocks"));
    if (all_shown) {
        CHECK(sum_n == doctest::Approx(blocks * p.at("average_n").get<double>()).epsilon(1e-9));
        CHECK(sum_nnz == doctest::Approx(blocks * p.at("average_nnz").get<double>()).epsilon(1e-9));
    }
    CHECK(p.at("candidates").empty() == (blocks == 0));
    CHECK((p.at("engine") == "none" || p.at("engine") == "periodic") == (blocks == 0));
    if (p.at("refused") == false) CHECK(p.at("engine").is_string()); // null: no engine can
    CHECK(p.contains("refusal") == p.at("refused").get<bool>());
    for (const auto &[what, count] : p.at("reductions").items()) {
        CAPTURE(what);
        CHECK(count.get<std::int64_t>() >= 0);
    }
    const std::string text = plan.explain();
    CHECK(std::ranges::count(text, '\n') < 60);
    CHECK(text.back() == '\n');
}

// As explain tells them of a tape.
std::string formatted_counts(const perm::Result &r) {
    return std::to_string(static_cast<std::int64_t>(r->states)) + " states and " +
           std::to_string(static_cast<std::int64_t>(r->operations)) + " moves";
}

} // namespace

TEST_CASE("explain: the counts of a plan agree with each other and with the result") {
    Random random(run::seed(116));
    int several = 0;
    for (const Family &family : small_families()) {
        CAPTURE(family.name);
        for (int i = 0; i < run::cases(10); ++i) {
            const perm::Csr a = family.make(static_cast<Entries>(i % 5), random);
            for (const char *names : {"", "d1,d2", "merge,dm"}) {
                const perm::Plan plan(a, without(names));
                check_explained(plan);
                // Of explicit zeros perm_compute rids itself first.
                if (std::ranges::find(a.values, 0.0) != a.values.end()) continue;
                perm::Result r = perm::compute(a, without(names));
                if (std::string(r->engine) == "glynn") continue; // without the plan
                CHECK(explained(plan).at("blocks") == r->blocks);
                CHECK(explained(plan).at("different_blocks") == r->blocks_computed);
                several += r->blocks > 1;
            }
        }
    }
    CHECK(several > run::enough(10));
}

TEST_CASE("explain: blocks of known size") {
    Random random(run::seed(117));
    std::vector<perm::Csr> blocks;
    double sum_n = 0, sum_nnz = 0;
    for (int k = 0; k < 3000; ++k) {
        const std::int64_t n = random.integer(3, 9);
        blocks.push_back(dense_block(n, Entries::real, random));
        sum_n += static_cast<double>(n);
        sum_nnz += static_cast<double>(n * n);
    }
    const perm::Csr a = diagonal_of(blocks);
    for (const bool known : {false, true}) {
        const perm::Plan plan = known ? perm::Plan(a) : plan_of_pattern(a);
        check_explained(plan);
        const json p = explained(plan);
        CHECK(p.at("blocks") == 3000);
        CHECK(p.at("different_blocks") == 3000);
        CHECK(reduction(p, "irreducible_blocks") == 3000);
        CHECK(reduction(p, "dropped_entries") == 0);
        CHECK(p.at("average_n").get<double>() == doctest::Approx(sum_n / 3000).epsilon(1e-12));
        CHECK(p.at("average_nnz").get<double>() == doctest::Approx(sum_nnz / 3000).epsilon(1e-12));
        CHECK(p.at("groups").size() >= 7);
    }
    const perm::Plan same(diagonal_of(std::vector(3000, blocks.front())));
    check_explained(same);
    CHECK(explained(same).at("blocks") == 3000);
    CHECK(explained(same).at("different_blocks") == 1);
}

TEST_CASE("explain: more different blocks than are planned, and as many groups as are shown") {
    Random random(run::seed(118));
    std::vector<perm::Csr> blocks;
    for (int k = 0; k < 2500; ++k)
        blocks.push_back(
            indecomposable_blocks(1, random.integer(7, 12), 0.6, Entries::real, random.bits()).front());
    for (std::int64_t n = 13; n < 38; ++n) blocks.push_back(circulant(n, {0, 1, 3})); // a group each
    std::reverse(blocks.begin(), blocks.end());
    const perm::Plan plan = plan_of_pattern(diagonal_of(blocks));
    check_explained(plan);
    const json p = explained(plan);
    CHECK(p.at("blocks") > 2000);
    REQUIRE(p.at("groups").size() == 21);
    CHECK_FALSE(p.at("groups").back().contains("n"));
}

TEST_CASE("explain: engine tree is listed, or why it is not") {
    const auto says = [](const perm::Plan &plan, const char *words) {
        return plan.explain().find(words) != std::string::npos;
    };
    const perm::Plan dense(erdos_renyi(24, 1, Entries::real, 119));
    CHECK(says(dense, "\ntree"));
    CHECK_FALSE(says(dense, "tree: not planned"));
    CHECK(says(perm::Plan(circulant(40, {0, 1, 3})),
               "\ntree: not planned, looking for its order would not pay\n"));
    CHECK(says(perm::Plan(circulant(80, {0, 1, 3})),
               "\ntree: not planned, it takes at most 64 rows, this has 80\n"));
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = "ryser";
    CHECK_FALSE(says(perm::Plan(circulant(20, {0, 1, 3}), opts), "tree"));
}

TEST_CASE("explain: a refused plan of many blocks says why") {
    Random random(run::seed(119));
    std::vector<perm::Csr> blocks(50, dense_block(5, Entries::real, random));
    blocks[17] = dense_block(62, Entries::real, random);
    const perm::Plan plan(diagonal_of(blocks));
    check_explained(plan);
    const json p = explained(plan);
    CHECK(p.at("refused") == true);
    CHECK(p.at("predicted_seconds").is_null());
    CHECK(p.at("blocks") == 50);
    CHECK_FALSE(p.at("refusal").get<std::string>().empty());
}

// ---------------------------------------------------------------- pictures

namespace {

using Lines = std::vector<std::int64_t>;

bool is_permutation_of(Lines lines, std::int64_t n) {
    std::ranges::sort(lines);
    for (std::size_t k = 0; k < lines.size(); ++k)
        if (lines[k] != static_cast<std::int64_t>(k)) return false;
    return std::ssize(lines) == n;
}

Lines places(const json &order) {
    Lines place(order.size());
    for (std::size_t k = 0; k < order.size(); ++k)
        place[order[k].get<std::size_t>()] = static_cast<std::int64_t>(k);
    return place;
}

// Row and column of each entry, in an order.
std::vector<std::pair<std::int64_t, std::int64_t>> entries_in(const json &pattern, const json &order) {
    const Lines row_ptr = pattern.at("row_ptr"), col = pattern.at("col");
    const Lines row = places(order.at("rows")), column = places(order.at("cols"));
    std::vector<std::pair<std::int64_t, std::int64_t>> entries;
    for (std::size_t i = 0; i + 1 < row_ptr.size(); ++i)
        for (auto k = static_cast<std::size_t>(row_ptr[i]); k < static_cast<std::size_t>(row_ptr[i + 1]); ++k)
            entries.emplace_back(row[i], column[static_cast<std::size_t>(col[k])]);
    std::ranges::sort(entries);
    return entries;
}

// The states of a frontier that is run whole.
double peak_states(const json &p) {
    for (const json &c : p.at("candidates"))
        if (c.at("engine") == "frontier" && !c.contains("lower_bound")) return c.at("peak_states");
    return 0;
}

// Returns whether its costliest block was found in the matrix.
bool check_picture(const perm::Plan &plan) {
    const json p = json::parse(plan.explain(PERM_FORMAT_PICTURE));
    CAPTURE(p.dump());
    json plain = p;
    plain.erase("picture");
    CHECK(plain == explained(plan));
    const json &picture = p.at("picture"), &blocks = picture.at("blocks"),
               &costliest = picture.at("costliest");
    const auto n = p.at("n").get<std::int64_t>();
    CHECK(picture.at("engines").size() == p.at("candidates").size());
    CHECK(costliest.is_null() == (p.at("engine") == "none"));
    if (!blocks.is_null()) {
        CHECK(is_permutation_of(blocks.at("rows"), n));
        CHECK(is_permutation_of(blocks.at("cols"), n));
        Lines block;
        std::int64_t number = 0;
        for (const std::int64_t size : blocks.at("sizes").get<Lines>())
            block.insert(block.end(), static_cast<std::size_t>(size), number++);
        REQUIRE(std::ssize(block) == n);
        for (const auto &[i, j] : entries_in(picture, blocks))
            CHECK(block[static_cast<std::size_t>(i)] >= block[static_cast<std::size_t>(j)]);
    }
    if (costliest.is_null()) return false;
    const auto m = std::ssize(costliest.at("rows"));
    CHECK(is_permutation_of(costliest.at("rows"), m));
    CHECK(is_permutation_of(costliest.at("cols"), m));
    const json &open = costliest.at("open"), &states = costliest.at("states");
    CHECK(open.size() == states.size());
    if (!open.empty()) {
        CHECK(std::ssize(open) == m);
        CHECK(costliest.at("branches").is_null());
        CHECK(open.back() == 0);
        CHECK(states.back() == 1);
        CHECK(std::ranges::max(states.get<std::vector<double>>()) == doctest::Approx(peak_states(p)));
    }
    if (costliest.at("block").is_null()) return false;
    // There it stands in the same order.
    const auto b = costliest.at("block").get<std::size_t>();
    const Lines sizes = blocks.at("sizes");
    std::int64_t begin = 0;
    for (std::size_t k = 0; k < b; ++k) begin += sizes[k];
    std::vector<std::pair<std::int64_t, std::int64_t>> there;
    for (const auto &[i, j] : entries_in(picture, blocks))
        if (std::min(i, j) >= begin && std::max(i, j) < begin + sizes[b])
            there.emplace_back(i - begin, j - begin);
    CHECK(there == entries_in(costliest, costliest));
    return true;
}

} // namespace

TEST_CASE("pictures: orders of the matrix and of its costliest block") {
    Random random(run::seed(120));
    int found = 0, others = 0;
    for (const Family &family : small_families()) {
        CAPTURE(family.name);
        for (int i = 0; i < run::cases(3); ++i) {
            const perm::Csr a = family.make(static_cast<Entries>(i % 5), random);
            for (const char *names : {"", "d1,d2,fm", "dm"})
                ++(check_picture(perm::Plan(a, without(names))) ? found : others);
        }
    }
    CHECK(found > run::enough(10));
    CHECK(others > run::enough(10));
}

TEST_CASE("pictures: refused and rectangular ones") {
    Random random(run::seed(121));
    CHECK(check_picture(perm::Plan(dense_block(70, Entries::real, random))));
    const perm::Csr wide = build(2, 4, [](std::int64_t i, std::int64_t j) { return i + j == 0 ? 0.0 : 1.0; });
    check_picture(perm::Plan(wide));
    CHECK(json::parse(perm::Plan(wide).explain(PERM_FORMAT_PICTURE)).at("picture").at("row_ptr").size() == 5);
}

TEST_CASE("explain: a frontier on a tree names its decomposition, and its picture has it list by list") {
    int joins = 0;
    for (int i = 0; i < run::cases(3); ++i) {
        const std::uint64_t seed = run::seed(122) + static_cast<std::uint64_t>(i);
        const perm::Csr a = i % 2 ? power_network(500, Entries::real, seed) : roads(500, Entries::ones, seed);
        const perm::Plan plan(a);
        check_explained(plan);
        const json p = json::parse(plan.explain(PERM_FORMAT_PICTURE));
        REQUIRE(p.at("form") == "branches");
        const json &candidate = p.at("candidates").at(0), &shape = candidate.at("branches"),
                   &leaves = shape.at("leaves");
        for (const json &c : p.at("candidates"))
            CHECK(c.contains("branches") == (c.value("form", "") == "branches"));
        const json &costliest = p.at("picture").at("costliest"), &lists = costliest.at("branches");
        check_picture(plan);
        CHECK((costliest.at("open").empty() && costliest.at("states").empty()));
        const Lines left = lists.at("left"), right = lists.at("right"), steps = lists.at("steps"),
                    width = lists.at("width");
        const auto states = lists.at("states").get<std::vector<double>>();
        REQUIRE(std::set<std::size_t>{left.size(), right.size(), steps.size(), width.size(), states.size()}
                    .size() == 1);
        std::vector<int> joined(left.size(), 0);
        std::int64_t of_two = 0;
        for (std::size_t k = 0; k < left.size(); ++k) {
            CHECK((left[k] < 0) == (right[k] < 0));
            if (left[k] < 0) continue;
            ++of_two;
            for (const std::int64_t of : {left[k], right[k]}) {
                REQUIRE(of < static_cast<std::int64_t>(k));
                ++joined[static_cast<std::size_t>(of)];
            }
        }
        CHECK(joined.back() == 0);
        joined.pop_back();
        CHECK(std::ranges::all_of(joined, [](int times) { return times == 1; }));
        CHECK(of_two == shape.at("joins"));
        CHECK(std::accumulate(steps.begin(), steps.end(), std::int64_t{0}) ==
              leaves.at("rows").get<std::int64_t>() + leaves.at("columns").get<std::int64_t>() +
                  leaves.at("entries").get<std::int64_t>());
        CHECK(std::ranges::max(width) == shape.at("width"));
        CHECK(std::ranges::max(states) <= candidate.at("peak_states").get<double>());
        CHECK(shape.at("products").get<double>() <= candidate.at("operations").get<double>());
        const std::string text = plan.explain();
        CHECK(text.find("frontier branches: middle sets of up to " + shape.at("width").dump() +
                        " lines; leaves: ") != text.npos);
        CHECK(perm::Plan::load(plan.save()).explain(PERM_FORMAT_PICTURE) ==
              plan.explain(PERM_FORMAT_PICTURE));
        joins += static_cast<int>(of_two);
    }
    CHECK(joins > 20);
}

TEST_CASE("explain: each heading ends where its column ends, and the tape of executions is told") {
    Random random(run::seed(127));
    int tapes = 0, others = 0;
    for (int i = 0; i < run::cases(40); ++i) {
        const std::int64_t n = random.integer(2, 14);
        const double density = i % 3 == 0 ? 1.0 : 0.4;
        const perm::Csr a =
            erdos_renyi(n, density, i % 5 == 0 ? Entries::ones : Entries::real, random.bits());
        const perm::Plan plan(a);
        const std::string text = plan.explain();
        CAPTURE(text);
        std::istringstream lines(text);
        std::string head, row;
        while (head.find("at once") == head.npos && std::getline(lines, head)) {
        }
        for (const json &candidate : explained(plan).at("candidates")) {
            REQUIRE(std::getline(lines, row));
            if (row.find(" first ") != row.npos) REQUIRE(std::getline(lines, row)); // of no candidate
            CHECK(row.find(candidate.at("engine").get<std::string>()) == 0);
            CHECK(row.size() == head.size());
            for (const char *heading : {"states/subsets", "at once", "operations", "memory"}) {
                const std::size_t end = head.find(heading) + std::string(heading).size();
                CHECK(row.at(end - 1) != ' ');
                CHECK(row.at(end) == ' ');
            }
        }
        const perm::Result r = plan.execute(a.pattern ? nullptr : a.values.data());
        const std::string told = formatted_counts(r);
        const bool has_tape = explained(plan).at("executes_tape").get<bool>();
        CHECK((text.find("executions of the plan go along its tape: engine frontier, ") != text.npos) ==
              has_tape);
        if (has_tape && std::string(r->engine) != "glynn") CHECK(text.find(told) != text.npos);
        ++(has_tape ? tapes : others);
    }
    CHECK(tapes > run::enough(40) / 8);
    CHECK(others > run::enough(40) / 8);
}

TEST_CASE("explain: a tree that is refused says how wide it is") {
    if (run::sanitized) return run::skip("its search takes half a minute, and is sanitized in unit.slices");
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = "frontier";
    opts.device = "cpu";
    opts.memory_limit_bytes = 17 << 20;
    const perm::Plan plan(erdos_renyi(40, 0.2, Entries::real, run::seed(123)), opts);
    const json p = explained(plan);
    const auto tree =
        std::ranges::find_if(p.at("candidates"), [](const json &c) { return c.contains("branches"); });
    REQUIRE(tree != p.at("candidates").end());
    REQUIRE(tree->at("status") == "refused");
    CHECK(tree->at("why_not").get<std::string>().find("up to " + tree->at("branches").at("width").dump() +
                                                      " lines") != std::string::npos);
}
