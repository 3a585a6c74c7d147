// Tasks of every kind: in shards, as bytes, with checkpoints, the bits of one run; and all that is refused.
#include "bench/families.hpp"
#include "capi/saved_task.hpp"
#include "lib/periodic/answers/periodic_task.hpp"
#include "lib/run/part.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"
#include "tests/support/sealed_bytes.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <perm.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace perm::families;

namespace {

// A task of some kind, made anew with other options.
struct Case {
    std::string name;
    perm::Csr matrix;
    perm_opts opts = PERM_OPTS_INIT;
    std::function<perm::Task(const Case &)> make = {};
    std::function<std::string(const Case &)> at_once = {}; // by the function that has no task
    std::shared_ptr<perm::Plan> plan = {};
    std::shared_ptr<std::vector<double>> batch = {}; // values, of matrices one behind the other
};

std::string text_of(const perm_estimated &e) {
    return std::to_string(std::hash<double>()(e.mantissa_re)) + " " + std::to_string(e.exp2) + " " +
           std::to_string(e.samples) + " " + std::to_string(std::hash<double>()(e.upper_mantissa));
}
std::string text_of(const perm::Result &r) {
    std::string text = r.text();
    for (const double x : {r->re, r->im, r->mantissa_re, r->rel_error_bound, r->abs_error_bound})
        text += " " + std::to_string(std::bit_cast<std::uint64_t>(x));
    return text + "\n";
}
std::string text_of(const std::vector<perm::Result> &results) {
    std::string text;
    for (const perm::Result &r : results) text += text_of(r);
    return text;
}
std::string text_of(const perm::Task::Numbers &found) {
    std::string text = found.result->engine ? found.result.text() + "\n" : "";
    for (const std::vector<double> *numbers : {&found.numbers, &found.error_bounds})
        for (const double x : *numbers) text += std::to_string(std::bit_cast<std::uint64_t>(x)) + " ";
    return text;
}
std::string text_of(const std::vector<std::int64_t> &columns) {
    std::string text;
    for (const std::int64_t column : columns) text += std::to_string(column) + " ";
    return text;
}
perm_answer room_of(const perm::Task &task) {
    perm_answer room = PERM_ANSWER_INIT;
    REQUIRE(perm_task_room(task.raw(), &room) == PERM_OK);
    return room;
}
std::string answer_of(const perm::Task &task) {
    if (room_of(task).numbers_count > 0) return text_of(task.run_numbers());
    if (room_of(task).columns_count > 0) return text_of(task.run_samples());
    return task.results() == 0 ? text_of(task.run_estimate()) : text_of(task.run());
}
std::string combine(const perm::Task &task, const std::vector<std::string> &partials) {
    if (room_of(task).numbers_count > 0) return text_of(task.combine_numbers(partials));
    if (room_of(task).columns_count > 0) return text_of(task.combine_samples(partials));
    return task.results() == 0 ? text_of(task.combine_estimate(partials)) : text_of(task.combine(partials));
}

perm::Csr random_dense(std::int64_t n, std::uint64_t seed) {
    Random random(seed);
    return build(n, n, [&](std::int64_t, std::int64_t) {
        return 0.25 + static_cast<double>(random.integer(1, 1000)) / 1000;
    });
}

perm::Task plan_task(const perm::Plan &plan, const void *values) { return perm::Task::plan(plan, values); }
perm::Task gradient_task(const perm::Plan &plan, const void *values) {
    return perm::Task::gradient(plan, values);
}

// A plan with the values of its matrix, which the case keeps.
template <class Make> std::function<perm::Task(const Case &)> made_of_plan(const Make &make) {
    return [make](const Case &one) {
        Case &own = const_cast<Case &>(one);
        own.plan = std::make_shared<perm::Plan>(one.matrix, one.opts);
        return make(*own.plan, one.matrix.values.data());
    };
}

Case of_plan(std::int64_t n = 22) {
    Case c;
    c.name = "plan";
    c.matrix = random_dense(n, 3);
    c.opts.engine = "ryser";
    c.opts.device = "cpu";
    c.make = made_of_plan(plan_task);
    c.at_once = [](const Case &one) {
        return text_of(perm::Plan(one.matrix, one.opts).execute(one.matrix.values.data()));
    };
    return c;
}

Case of_estimate() {
    Case c;
    c.name = "estimate";
    c.matrix = derangements(40);
    c.opts.device = "cpu";
    c.opts.without = "merge,periodic,structure";
    c.opts.seed = 3;
    const auto wanted = [] {
        perm_estimate_opts opts = PERM_ESTIMATE_OPTS_INIT;
        opts.epsilon = run::sanitized ? 0.001 : 0.0005;
        opts.seed = 11;
        return opts;
    };
    c.make = [=](const Case &one) { return perm::Task::estimate(one.matrix.view(), wanted(), one.opts); };
    c.at_once = [=](const Case &one) {
        return text_of(perm::estimate(one.matrix.view(), wanted(), one.opts));
    };
    return c;
}

// By sums over subsets.
Case of_matchings(std::int64_t n) {
    Random random(7);
    Case c;
    c.name = "matchings";
    c.matrix = build(n, n + 2,
                     [&](std::int64_t, std::int64_t) { return static_cast<double>(random.integer(0, 3)); });
    c.opts.device = "cpu";
    c.make = [](const Case &one) { return perm::Task::matchings(one.matrix.view(), one.opts); };
    c.at_once = [](const Case &one) { return text_of(perm::matchings(one.matrix.view(), one.opts)); };
    return c;
}

// Along a band: by a plan, exactly.
Case of_matchings_by_plan() {
    Case c = of_matchings(4);
    c.name = "matchings by a plan";
    c.matrix = build(24, 24, [](std::int64_t i, std::int64_t j) {
        return std::abs(i - j) < 3 ? 1.0 + static_cast<double>(i % 2) : 0.0;
    });
    c.opts.engine = "frontier";
    return c;
}

// By sums over signs.
Case of_gradient() {
    Case c;
    c.name = "gradient";
    c.matrix = random_dense(run::sanitized ? 19 : 23, 4);
    c.opts.device = "cpu";
    c.make = made_of_plan(gradient_task);
    c.at_once = [](const Case &one) {
        perm::Task::Numbers found;
        found.numbers.resize(one.matrix.values.size());
        found.error_bounds.resize(one.matrix.values.size());
        const perm::Plan plan(one.matrix, one.opts);
        REQUIRE(perm_plan_gradient(plan.raw(), one.matrix.values.data(), found.numbers.data(),
                                   found.error_bounds.data(), found.result.raw()) == PERM_OK);
        return text_of(found);
    };
    return c;
}

Case of_gradient_along_tape() {
    Case c = of_gradient();
    c.name = "gradient along the tape";
    c.opts.engine = "frontier";
    c.matrix = build(30, 30, [](std::int64_t i, std::int64_t j) {
        return std::abs(i - j) < 4 ? 1.0 / static_cast<double>(1 + i + 2 * j) : 0.0;
    });
    return c;
}

// The matrix, which has no zeros, is written row by row.
perm_dense dense_of(const perm::Csr &a, std::int64_t count) {
    perm_dense dense = PERM_DENSE_INIT;
    const perm_csr view = a.view();
    dense.n_rows = view.n_rows / count;
    dense.n_cols = view.n_cols;
    dense.count = count;
    dense.values = view.values;
    return dense;
}

// Of one matrix, or of several below each other.
Case of_minors(std::int64_t rows, std::int64_t columns, std::int64_t count) {
    Random random(11);
    Case c;
    c.name = "minors of " + std::to_string(count);
    c.matrix = build(rows * count, columns, [&](std::int64_t, std::int64_t) {
        return 0.25 + static_cast<double>(random.integer(1, 1000)) / 1000;
    });
    c.opts.device = "cpu";
    c.make = [=](const Case &one) { return perm::Task::minors(dense_of(one.matrix, count), one.opts); };
    c.at_once = [=](const Case &one) {
        const perm_dense a = dense_of(one.matrix, count);
        perm::Task::Numbers found;
        found.numbers.resize(static_cast<std::size_t>(std::max(rows, columns) * count));
        found.error_bounds.resize(found.numbers.size());
        REQUIRE(perm_sub_permanents(&a, &one.opts, found.numbers.data(), found.error_bounds.data()) ==
                PERM_OK);
        return text_of(found);
    };
    return c;
}

Case of_samples(std::string name, perm::Csr matrix, std::int64_t shots) {
    constexpr std::uint64_t seed = 5;
    Case c;
    c.name = std::move(name);
    c.matrix = std::move(matrix);
    c.opts.device = "cpu";
    c.make = [=](const Case &one) { return perm::Task::samples(one.matrix.view(), shots, seed, one.opts); };
    c.at_once = [=](const Case &one) {
        return text_of(perm::sample(one.matrix.view(), shots, seed, one.opts));
    };
    return c;
}

// By rejection: no frontier fits.
Case of_samples_by_rejection(std::int64_t shots) {
    Random random(9);
    Case c =
        of_samples("samples by rejection",
                   block_sum(erdos_renyi(14, 0.8, Entries::nonnegative, random.bits()), grid(4, 4)), shots);
    c.opts.memory_limit_bytes = 1000;
    return c;
}

std::vector<perm::Result> batch_of(const perm::Plan &plan, const void *values, std::int64_t stride,
                                   std::int64_t count) {
    std::vector<perm_result> raw(static_cast<std::size_t>(count), perm_result PERM_RESULT_INIT);
    perm::check(perm_plan_execute_batch(plan.raw(), values, stride, count, raw.data()));
    std::vector<perm::Result> results(raw.size());
    for (std::size_t k = 0; k < raw.size(); ++k) *results[k].raw() = raw[k];
    return results;
}

// `count` matrices of this pattern, matrix k's entries being those of its own times 1 + k % 7.
Case of_batch(std::string name, perm::Csr matrix, std::int64_t count, const char *engine) {
    Case c;
    c.name = std::move(name);
    c.matrix = std::move(matrix);
    c.opts.device = "cpu";
    c.opts.engine = engine;
    const auto values_of = [count](const perm::Csr &a) {
        std::vector<double> all;
        for (std::int64_t k = 0; k < count; ++k)
            for (const double x : a.values) all.push_back(x * static_cast<double>(1 + k % 7));
        return all;
    };
    c.make = [=](const Case &one) {
        Case &own = const_cast<Case &>(one);
        own.plan = std::make_shared<perm::Plan>(one.matrix, one.opts);
        own.batch = std::make_shared<std::vector<double>>(values_of(one.matrix));
        return perm::Task::batch(*own.plan, own.batch->data(), std::ssize(one.matrix.values), count);
    };
    c.at_once = [=](const Case &one) {
        const std::vector<double> values = values_of(one.matrix);
        return text_of(
            batch_of(perm::Plan(one.matrix, one.opts), values.data(), std::ssize(one.matrix.values), count));
    };
    return c;
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    cases.push_back(of_plan());
    cases.push_back(of_estimate());
    cases.push_back(of_matchings(run::sanitized ? 13 : 19));
    cases.push_back(of_matchings_by_plan());
    cases.push_back(of_gradient());
    cases.push_back(of_gradient_along_tape());
    cases.push_back(of_minors(run::sanitized ? 19 : 23, run::sanitized ? 20 : 24, 1));
    cases.push_back(of_minors(12, 11, run::sanitized ? 1000 : 5000));
    cases.push_back(of_samples("samples", grid(4, 6), run::sanitized ? 2000 : 200000));
    cases.push_back(of_samples_by_rejection(run::sanitized ? 300 : 3000));
    cases.push_back(of_samples("samples line by line", run::sanitized ? grid(14, 14) : grid(16, 16),
                               run::sanitized ? 250 : 2500));
    cases.push_back(of_batch("batch", random_dense(run::sanitized ? 12 : 16, 8), 24, "ryser"));
    cases.push_back(of_batch("batch along a tape", grid(3, 4), 9, nullptr));
    cases.push_back(of_batch("batch of full matrices", random_dense(8, 2), 5, nullptr));
    return cases;
}

std::vector<std::string> all_shards(const perm::Task &task) {
    std::vector<std::string> partials;
    for (std::int64_t k = 0; k < task.shards(); ++k) partials.push_back(task.run_shard(k));
    return partials;
}

void check_refused(const std::function<void()> &work, const std::string &word,
                   std::optional<perm_status> status = {}) {
    try {
        work();
        FAIL_CHECK("not refused: " << word);
    } catch (const perm::Error &error) {
        CAPTURE(error.what());
        CHECK(std::string(error.what()).find(word) != std::string::npos);
        CHECK(error.status() != PERM_INTERNAL);
        if (status) CHECK(error.status() == *status);
    }
}

} // namespace

TEST_CASE("shards of a task by those who loaded it, put together: the bits of one run") {
    Random random(run::seed(4101));
    int several = 0;
    for (Case &c : all_cases()) {
        CAPTURE(c.name);
        const perm::Task task = c.make(c);
        const std::string whole = answer_of(task);
        CHECK(whole == c.at_once(c));
        const std::string bytes = task.save();
        perm_opts theirs = PERM_OPTS_INIT;
        theirs.device = "cpu";
        std::vector<std::string> partials;
        for (const std::int64_t k : random.permutation(task.shards())) {
            theirs.threads = static_cast<std::int32_t>(random.integer(1, 3));
            const perm::Task other = perm::Task::load(bytes, theirs);
            CHECK(other.shards() == task.shards());
            partials.push_back(other.run_shard(k));
        }
        several += partials.size() > 1;
        CHECK(combine(task, partials) == whole);
        const perm::Task other = perm::Task::load(bytes, theirs);
        CHECK(answer_of(other) == whole);
        CHECK(combine(other, partials) == whole);
        CHECK(other.save() == bytes);
        CHECK(!task.explain().empty());
        CHECK(nlohmann::json::parse(task.explain(PERM_FORMAT_JSON)).at("shards") == task.shards());
    }
    CHECK(several >= (run::sanitized ? 1 : 6));
}

TEST_CASE("what is missing, torn, of another task or none") {
    std::vector<Case> cases = all_cases();
    std::vector<std::vector<std::string>> partials;
    std::vector<std::string> saved;
    for (Case &c : cases) {
        const perm::Task task = c.make(c);
        partials.push_back(all_shards(task));
        saved.push_back(task.save());
    }
    for (std::size_t k = 0; k < cases.size(); ++k) {
        CAPTURE(cases[k].name);
        const perm::Task task = perm::Task::load(saved[k]);
        const std::string whole = combine(task, partials[k]);
        check_refused([&] { combine(task, {}); }, "the first is 0", PERM_BAD_ARGUMENT);
        for (std::size_t other = 0; other < cases.size(); ++other) {
            if (other == k) continue;
            std::vector<std::string> mixed = partials[k];
            mixed.back() = partials[other].front();
            check_refused([&] { combine(task, mixed); }, "partial result", PERM_BAD_ARGUMENT);
        }
        std::vector<std::string> torn = partials[k];
        torn.front().resize(torn.front().size() / 2);
        check_refused([&] { combine(task, torn); }, "partial result 0", PERM_BAD_ARGUMENT);
        check_refused([&] { task.run_shard(-1); }, "there is no shard", PERM_BAD_ARGUMENT);
        check_refused([&] { perm::Task::load(saved[k].substr(0, saved[k].size() - 1)); }, "task");
        std::string damaged = saved[k];
        damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
        check_refused([&] { perm::Task::load(damaged); }, "damaged");
        check_refused([&] { perm::Task::load(partials[k].front()); }, "perm_task_save", PERM_BAD_ARGUMENT);
        Case another = cases[k];
        another.matrix.values.front() += 1;
        const perm::Task of_another = another.make(another);
        if (of_another.shards() == 0) continue;
        std::vector<std::string> mixed = partials[k];
        mixed.back() = of_another.run_shard(0);
        check_refused([&] { combine(task, mixed); }, "is of", PERM_BAD_ARGUMENT);
    }
}

TEST_CASE("a saved plan is a task without values, and parts of several shards are put together") {
    Case c = of_plan();
    const perm::Task task = c.make(c);
    const std::string whole = answer_of(task);
    const perm::Plan plan = perm::Plan::load(task.save());
    CHECK(plan.save() == c.plan->save());
    CHECK(text_of(plan.execute(c.matrix.values.data())) == whole);
    CHECK(perm::Task::plan(plan, c.matrix.values.data()).save() == task.save());
    check_refused([&] { perm::Task::load(plan.save()); }, "not the values", PERM_BAD_ARGUMENT);
    for (Case &other : all_cases())
        if (other.name.substr(0, 4) != "plan")
            check_refused([&] { perm::Plan::load(other.make(other).save()); }, "no plan", PERM_BAD_ARGUMENT);

    const auto read = [](const std::string &bytes) {
        return libperm::content_of<libperm::Part>(libperm::part_seal, bytes);
    };
    const auto seal = [](const libperm::Part &part) {
        return libperm::sealed(libperm::part_seal, libperm::written(part));
    };
    const std::vector<std::string> partials = all_shards(task);
    REQUIRE(partials.size() > 2);
    libperm::Part all = read(partials.front());
    for (std::size_t k = 1; k < partials.size(); ++k) {
        CHECK(read(partials[k]).digests == all.digests);
        all.shards.push_back(read(partials[k]).shards.front());
    }
    CHECK(combine(task, {seal(all)}) == whole);
    CHECK(combine(task, {partials[1], seal(all), seal(libperm::Part())}) == whole);
    all.shards.erase(all.shards.begin() + 1);
    check_refused([&] { combine(task, {seal(all)}); }, "the first is", PERM_BAD_ARGUMENT);
    CHECK(combine(task, {seal(all), partials[1]}) == whole);
    all.shards.front().pieces += "x";
    check_refused([&] { combine(task, {partials[1], seal(all)}); }, "partial result 1", PERM_BAD_ARGUMENT);
}

TEST_CASE("a task that is cut off goes on from its checkpoint, with the same bits") {
    int interrupted = 0;
    for (Case &c : all_cases()) {
        CAPTURE(c.name);
        if (c.name.starts_with("batch ")) continue; // with a checkpoint its plan has no such way
        if (c.name == "plan") c = of_plan(run::sanitized ? 22 : 25); // callbacks come every tenth of a second
        const std::string whole = c.at_once(c);
        const MemoryFolder folder;
        const std::string file = folder / "kept";
        c.opts.checkpoint = file.c_str();
        c.opts.checkpoint_seconds = 0.01;
        c.opts.threads = 1;
        struct Watch {
            double fraction = 0, stop_at = 0;
        } watch;
        c.opts.progress = [](double fraction, double, void *to) {
            static_cast<Watch *>(to)->fraction = fraction;
        };
        c.opts.cancel = [](void *to) {
            const Watch &seen = *static_cast<Watch *>(to);
            return seen.fraction > seen.stop_at ? 1 : 0;
        };
        c.opts.progress_user = c.opts.cancel_user = &watch;
        std::string found;
        for (int call = 0; call < 20 && found.empty(); ++call) {
            watch.fraction = 0;
            watch.stop_at = 0.2 * call;
            try {
                found = answer_of(c.make(c));
            } catch (const perm::Error &error) {
                REQUIRE(error.status() == PERM_CANCELLED);
                ++interrupted;
            }
        }
        CHECK(found == whole);
        const auto about = nlohmann::json::parse(perm::checkpoint_describe(file, PERM_FORMAT_JSON));
        CHECK(about.at("finished") == true);
        watch.stop_at = 2;
        CHECK(answer_of(c.make(c)) == whole); // again, at once
        // Another kind's is refused.
        for (Case &other : all_cases()) {
            if (other.name.substr(0, 4) == c.name.substr(0, 4)) continue;
            other.opts.checkpoint = file.c_str();
            check_refused([&] { answer_of(other.make(other)); }, "checkpoint", PERM_BAD_OPTION);
        }
        Case another = c;
        another.matrix.values.front() += 1;
        check_refused([&] { answer_of(another.make(another)); }, "is of", PERM_BAD_OPTION);
    }
    MESSAGE("cut off ", interrupted, " times");
    CHECK(interrupted > 0);
}

TEST_CASE("minors and derivatives in shards: those of the definition") {
    Random random(run::seed(4102));
    int compared = 0;
    for (const std::int64_t n : {std::int64_t{5}, std::int64_t{7}}) {
        oracle::GaussianMatrix exact;
        perm::Csr a = build(n + 1, n, [&](std::int64_t i, std::int64_t) {
            exact.resize(static_cast<std::size_t>(i) + 1);
            const std::int64_t x = random.integer(1, 9);
            exact.back().push_back({mpq_class(x), 0});
            return static_cast<double>(x);
        });
        const auto without = [&](std::size_t row, std::size_t column) {
            oracle::GaussianMatrix rest = exact;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(row));
            if (column < rest.front().size())
                for (auto &line : rest) line.erase(line.begin() + static_cast<std::ptrdiff_t>(column));
            return oracle::by_subsets(rest).re.get_d();
        };
        const perm::Task minors = perm::Task::minors(dense_of(a, 1));
        const perm::Task::Numbers of_rows = minors.combine_numbers(all_shards(minors));
        for (std::size_t i = 0; i < exact.size(); ++i, ++compared) {
            CHECK(of_rows.numbers[i] == without(i, exact.size()));
            CHECK(of_rows.error_bounds[i] == 0);
        }
        const perm::Csr square = build(n, n, [&](std::int64_t i, std::int64_t j) {
            return exact[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].re.get_d();
        });
        exact.pop_back();
        for (const char *engine : {"auto", "frontier"}) {
            perm_opts opts = PERM_OPTS_INIT;
            opts.engine = engine;
            const perm::Plan plan(square, opts);
            const perm::Task task = perm::Task::gradient(plan, square.values.data());
            const perm::Task::Numbers found = task.combine_numbers(all_shards(task));
            CHECK(found.result.text() == plan.execute(square.values.data()).text());
            for (std::size_t k = 0; k < found.numbers.size(); ++k, ++compared)
                CHECK(found.numbers[k] == without(k / exact.size(), k % exact.size()));
        }
    }
    CHECK(compared == 6 + 2 * 25 + 8 + 2 * 49);
}

TEST_CASE("a batch of integers by shards: exact, and as each is executed alone") {
    constexpr std::int64_t n = 14, count = 9;
    Random random(run::seed(4103));
    const perm::Csr pattern = random_dense(n, 1);
    std::vector<std::int64_t> values;
    for (std::int64_t k = 0; k < n * n * count; ++k) values.push_back(random.integer(-50, 1000000));
    perm_csr a = pattern.view();
    a.value_type = PERM_VALUE_I64;
    a.values = values.data();
    for (const char *engine : {"auto", "ryser"}) {
        perm_opts opts = PERM_OPTS_INIT;
        opts.device = "cpu";
        opts.engine = engine;
        opts.precision = "exact";
        const perm::Plan plan(a, opts);
        const perm::Task task = perm::Task::batch(plan, values.data(), n * n, count);
        const std::vector<perm::Result> found = perm::Task::load(task.save()).combine(all_shards(task));
        REQUIRE(std::ssize(found) == count);
        for (std::int64_t k = 0; k < count; ++k) {
            const perm::Result alone = plan.execute(values.data() + n * n * k);
            CHECK(found[static_cast<std::size_t>(k)]->exact == 1);
            CHECK(found[static_cast<std::size_t>(k)].text() == alone.text());
        }
        const perm::Task same = perm::Task::batch(plan, values.data(), 0, 3); // one matrix, three times
        const std::vector<perm::Result> thrice = perm::Task::load(same.save()).run();
        REQUIRE(thrice.size() == 3);
        for (const perm::Result &r : thrice) CHECK(r.text() == found.front().text());
    }
}

TEST_CASE("a batch that the limits refuse is refused when its task is made") {
    const perm::Csr a = random_dense(30, 4104);
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = "cpu";
    opts.engine = "ryser";
    opts.threads = 1;
    opts.time_limit_seconds = 0.5;
    const perm::Plan plan(a, opts);
    perm_task *task = nullptr;
    CHECK(perm_task_batch(plan.raw(), a.values.data(), 0, 3, &task) == PERM_REFUSED_TIME);
    CHECK(task == nullptr);
    const std::string text = perm_last_error();
    CHECK(text.find("too large for the limits") != std::string::npos);
    CHECK(perm_task_batch(plan.raw(), a.values.data(), 0, 0, &task) == PERM_OK); // nothing is to be done
    perm_task_destroy(task);
}

TEST_CASE("samples by shards are matchings, of any kind of lines") {
    Random random(run::seed(4104));
    const perm::Csr square = erdos_renyi(8, 0.6, Entries::nonnegative, random.bits());
    const std::vector<double> weights(8, 0.5);
    int unmatched = 0;
    for (const bool may_stay : {false, true}) {
        perm_csr a = square.view();
        if (may_stay) a.row_unmatched = a.col_unmatched = weights.data();
        constexpr std::int64_t shots = 500;
        const perm::Task task = perm::Task::samples(a, shots, 3);
        const std::vector<std::int64_t> columns =
            perm::Task::load(task.save()).combine_samples(all_shards(task));
        CHECK(columns == perm::sample(a, shots, 3));
        REQUIRE(std::ssize(columns) == 8 * shots);
        for (std::int64_t shot = 0; shot < shots; ++shot) {
            std::vector<bool> taken(8, false);
            for (std::int64_t i = 0; i < 8; ++i) {
                const std::int64_t j = columns[static_cast<std::size_t>(8 * shot + i)];
                unmatched += j < 0;
                if (j < 0) continue;
                const auto row = square.col_idx.begin() + square.row_ptr[static_cast<std::size_t>(i)];
                const auto end = square.col_idx.begin() + square.row_ptr[static_cast<std::size_t>(i) + 1];
                CHECK(std::find(row, end, j) != end);
                CHECK_FALSE(taken[static_cast<std::size_t>(j)]);
                taken[static_cast<std::size_t>(j)] = true;
            }
            CHECK((may_stay || std::count(taken.begin(), taken.end(), true) == 8));
        }
    }
    CHECK(unmatched > 0);
    CHECK(perm::Task::samples(square.view(), 0, 3).run_samples().empty());
}

TEST_CASE("parts of samples and batches with anything behind a right seal: an answer or an error") {
    Random random(run::seed(4105));
    int answered = 0, refused = 0;
    for (Case &c : all_cases()) {
        if (!c.name.starts_with("samples") && !c.name.starts_with("batch")) continue;
        CAPTURE(c.name);
        if (c.name == "samples") c = of_samples("samples", grid(4, 6), 100);
        if (c.name == "samples by rejection") c = of_samples_by_rejection(100);
        const perm::Task made = c.make(c);
        const std::vector<std::string> partials = all_shards(made);
        perm_opts limited = PERM_OPTS_INIT;
        limited.time_limit_seconds = 0.2;
        const perm::Task task = perm::Task::load(made.save(), limited);
        for (int k = 0; k < (run::sanitized ? 10 : 80); ++k) {
            std::vector<std::string> all = partials;
            std::string &one = all[static_cast<std::size_t>(random.integer(0, std::ssize(all) - 1))];
            const std::int64_t last = std::ssize(one) - 9;
            one = sealed_bytes::forged(
                one, [&] { return random.integer(sealed_bytes::header_bytes, last); }, random);
            try {
                if (room_of(task).columns_count > 0)
                    for (const std::int64_t column : task.combine_samples(all))
                        CHECK((-1 <= column && column < c.matrix.n_cols));
                else
                    task.combine(all);
                ++answered;
            } catch (const perm::Error &error) {
                CAPTURE(error.what());
                CHECK(error.status() != PERM_INTERNAL);
                ++refused;
            }
        }
    }
    MESSAGE(answered, " answered, ", refused, " refused");
    CHECK(refused > 0);
}

TEST_CASE("a forged periodic task: too few primes, lengths out of reach, texts that are none") {
    const perm::Csr cell = perm::lattice_cell("grid:3");
    perm_opts opts = PERM_OPTS_INIT;
    opts.precision = "exact";
    opts.device = "cpu";
    const auto load = [&](const capi::TaskSource &source) {
        const std::string bytes = source.bytes();
        perm_opts limited = PERM_OPTS_INIT;
        limited.time_limit_seconds = 1;
        limited.memory_limit_bytes = std::int64_t{1} << 30;
        perm_task *task = nullptr;
        const perm_status status = perm_task_load(bytes.data(), bytes.size(), &limited, &task);
        CHECK((status == PERM_OK) == (task != nullptr));
        perm_task_destroy(task);
        return status;
    };
    for (const bool joined : {false, true}) {
        CAPTURE(joined);
        const perm::Periodic periodic(cell.view(), joined, opts);
        const capi::TaskSource genuine(perm::Task::periodic(periodic, 2000, 3).save());
        CHECK(load(genuine) == PERM_OK);
        std::string_view way = genuine.plan;
        const auto named = libperm::read_from<libperm::TermsWay>(way);
        REQUIRE(named.is_exact());
        REQUIRE(named.primes.count > 10);
        for (const std::int64_t missing : {std::int64_t{1}, named.primes.count / 2, named.primes.count - 1}) {
            CAPTURE(missing);
            libperm::TermsWay fewer = named;
            fewer.primes.count -= missing;
            capi::TaskSource forged = genuine;
            forged.plan = libperm::written(fewer);
            CHECK(load(forged) == PERM_BAD_ARGUMENT);
            CHECK(std::string(perm_last_error()).find("begin anew") != std::string::npos);
        }
        for (const int bits : {33, 40, 50, 61}) {
            CAPTURE(bits);
            capi::TaskSource forged = genuine;
            forged.first_term = std::int64_t{1} << bits;
            CHECK(load(forged) != PERM_OK);
            libperm::TermsWay most = named;
            most.primes.count = (1 << 28) - 1;
            forged.plan = libperm::written(most);
            const perm_status status = load(forged);
            CHECK((status == PERM_UNSUPPORTED || status == PERM_REFUSED_TIME));
        }
        capi::TaskSource forged = genuine;
        forged.terms = std::int64_t{1} << 32;
        CHECK(load(forged) != PERM_OK);
        for (std::string capi::TaskSource::*text : {&capi::TaskSource::kind, &capi::TaskSource::method}) {
            forged = genuine;
            forged.*text = "caf\xe9";
            std::string bytes = forged.bytes(); // in UTF-8
            const std::size_t at = bytes.find("caf\xef\xbf\xbd");
            REQUIRE(at != std::string::npos);
            bytes[at + 4] = 'x';
            bytes = sealed_bytes::with_digest(bytes);
            perm_task *task = nullptr;
            CHECK(perm_task_load(bytes.data(), bytes.size(), nullptr, &task) == PERM_BAD_ARGUMENT);
            CHECK(std::string(perm_last_error()).find("a text") != std::string::npos);
        }
    }
}

TEST_CASE("places that are none, and answers that do not fit") {
    Case c = of_matchings(6);
    const perm::Task task = c.make(c);
    CHECK(task.results() == 7);
    perm_answer answer = PERM_ANSWER_INIT;
    CHECK(perm_task_run(task.raw(), nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_run(nullptr, &answer) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_run(task.raw(), &answer) == PERM_BAD_ARGUMENT);
    perm_result one = PERM_RESULT_INIT;
    answer.results = &one;
    answer.count = 1;
    CHECK(perm_task_run(task.raw(), &answer) == PERM_BAD_ARGUMENT);
    CHECK(std::string(perm_last_error()).find("7") != std::string::npos);
    answer.struct_size = 3;
    CHECK(perm_task_run(task.raw(), &answer) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_run_shard(task.raw(), 0, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_shards(nullptr, nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_plan(nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    perm_task *none = nullptr;
    CHECK(perm_task_plan(nullptr, nullptr, &none) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_load(nullptr, 0, nullptr, &none) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_estimate(nullptr, nullptr, nullptr, &none) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_matchings(nullptr, nullptr, &none) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_samples(nullptr, nullptr, 1, 1, &none) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_photons(nullptr, nullptr, 1, 1, &none) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_batch(nullptr, nullptr, 0, 1, &none) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_gradient(nullptr, nullptr, &none) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_minors(nullptr, nullptr, &none) == PERM_BAD_ARGUMENT);
    CHECK(none == nullptr);
    CHECK(perm_task_destroy(nullptr) == PERM_OK);
}
