// Estimates whose samples are shared out, or drawn by calls that are cut off: the bits of one call, whoever
// drew which; and all that is refused.
#include "bench/families.hpp"
#include "tests/support/run.hpp"
#include "tests/support/sealed_bytes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/whole_file.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <perm.hpp>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

using namespace perm::families;

namespace {

// A matrix, and how it is estimated.
struct Case {
    std::string name;
    perm::Csr matrix;
    perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
    perm_opts opts = PERM_OPTS_INIT;

    Case(const char *what, perm::Csr a, double epsilon, const char *method = nullptr)
        : name(what), matrix(std::move(a)) {
        wanted.epsilon = run::sanitized ? 1.4 * epsilon : epsilon; // of half the samples
        wanted.method = method;
        wanted.seed = 11;
        opts.device = "cpu";
        opts.without = "merge,periodic,structure";
    }
};

perm::Csr two_blocks() {
    return build(90, 90, [](std::int64_t i, std::int64_t j) {
        if ((i < 40) != (j < 40)) return 0.0;
        return i < 40 ? 1.0 : i == j ? 0.5 : 2.0;
    });
}

perm::Csr with_signs(std::int64_t n) {
    return build(n, n,
                 [](std::int64_t i, std::int64_t j) { return (i * i + 3 * j * i + j) % 7 < 3 ? -1.0 : 1.0; });
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    cases.emplace_back("nesting", derangements(40), 0.0003, "nesting");
    cases.emplace_back("rejection", derangements(40), 0.005, "rejection");
    cases.emplace_back("two blocks", two_blocks(), 0.0005);
    cases.emplace_back("signed", with_signs(40), 0.01);
    cases.emplace_back("exact", constant(6, 2), 0.1);
    cases.emplace_back("limited", derangements(40), 0.0001);
    cases.back().wanted.samples = 300000;
    cases.emplace_back("limited rejection", derangements(40), 0.001, "rejection");
    cases.back().wanted.samples = 100000;
    return cases;
}

perm_status estimate(const Case &c, perm_estimated &found) {
    const perm_csr view = c.matrix.view();
    return perm_estimate(&view, &c.opts, &c.wanted, &found);
}

perm_estimated estimated(const Case &c) {
    perm_estimated found = PERM_ESTIMATED_INIT;
    REQUIRE(estimate(c, found) == PERM_OK);
    return found;
}

perm::Task task_of(const Case &c) { return perm::Task::estimate(c.matrix.view(), c.wanted, c.opts); }

std::string run_shard(const Case &c, std::int64_t number) { return task_of(c).run_shard(number); }

perm_status combine(const Case &c, const std::vector<std::string> &partials, perm_estimated &found) {
    try {
        found = task_of(c).combine_estimate(partials);
        return PERM_OK;
    } catch (const perm::Error &error) {
        return error.status();
    }
}

std::string refused(const Case &c, const std::vector<std::string> &partials) {
    perm_estimated found = PERM_ESTIMATED_INIT;
    CHECK(combine(c, partials, found) == PERM_BAD_ARGUMENT);
    CHECK(found.samples == 0);
    return perm_last_error();
}

void check_same(const perm_estimated &x, const perm_estimated &y) {
    CHECK(x.mantissa_re == y.mantissa_re);
    CHECK(x.mantissa_im == y.mantissa_im);
    CHECK(x.exp2 == y.exp2);
    CHECK(x.lower_mantissa == y.lower_mantissa);
    CHECK(x.lower_exp2 == y.lower_exp2);
    CHECK(x.upper_mantissa == y.upper_mantissa);
    CHECK(x.upper_exp2 == y.upper_exp2);
    CHECK(x.error_mantissa == y.error_mantissa);
    CHECK(x.epsilon == y.epsilon);
    CHECK(x.samples == y.samples);
    CHECK(x.accepted == y.accepted);
    CHECK(x.exact == y.exact);
    CHECK(x.blocks_exact == y.blocks_exact);
    CHECK(std::string(x.method) == y.method);
}

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("shards of an estimate, put together: the bits of one call") {
    Random random(run::seed(271));
    int several = 0;
    for (Case &c : all_cases()) {
        CAPTURE(c.name);
        c.opts.threads = 1;
        const perm_estimated whole = estimated(c);
        const std::int64_t shards = task_of(c).shards();
        CHECK(shards >= 1);
        several += shards > 1;
        std::vector<std::string> partials;
        for (const std::int64_t k : random.permutation(shards)) {
            c.opts.threads = static_cast<std::int32_t>(random.integer(1, 3));
            partials.push_back(run_shard(c, k));
        }
        c.opts.threads = 2;
        partials.push_back(run_shard(c, random.integer(0, shards - 1)));
        partials.push_back(run_shard(c, shards + 3)); // farther than anybody asked
        perm_estimated combined = PERM_ESTIMATED_INIT;
        REQUIRE(combine(c, partials, combined) == PERM_OK);
        check_same(whole, combined);
        CHECK(task_of(c).shards() == shards);
    }
    CHECK(several >= 4);
}

TEST_CASE("partial results that are not to be combined") {
    Case c("nesting", derangements(40), 0.0003);
    const std::int64_t count = task_of(c).shards();
    REQUIRE(count >= 3);
    std::vector<std::string> partials;
    for (std::int64_t k = 0; k < count; ++k) partials.push_back(run_shard(c, k));
    const auto without = [&](std::size_t k) {
        std::vector<std::string> some = partials;
        some.erase(some.begin() + static_cast<std::ptrdiff_t>(k));
        return some;
    };
    CHECK(contains(refused(c, without(1)), "the first is 1"));
    CHECK(contains(refused(c, {}), "the first is 0"));
    const auto with = [&](const std::string &bytes) {
        std::vector<std::string> some = without(1);
        some.push_back(bytes);
        return some;
    };
    std::string damaged = partials[1];
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 4);
    CHECK(contains(refused(c, with(damaged)), "damaged"));
    CHECK(contains(refused(c, with(partials[1].substr(0, 60))), "partial result"));
    CHECK(contains(refused(c, with("")), "partial result"));
    Case other = c;
    other.matrix = derangements(41);
    CHECK(contains(refused(c, with(run_shard(other, 1))), "another matrix"));
    other = c;
    other.wanted.seed = 12;
    CHECK(contains(refused(c, with(run_shard(other, 1))), "other options"));
    other = c;
    other.wanted.epsilon = 0.02;
    CHECK(contains(refused(c, with(run_shard(other, 1))), "other options"));
    // A plan's is another thing, and so is this to a plan.
    const perm::Csr small = constant(5, 1);
    const perm::Plan plan(small);
    const perm::Task of_plan = perm::Task::plan(plan, small.values);
    CHECK(contains(refused(c, with(of_plan.run_shard(0))), "partial result"));
    CHECK_THROWS_AS(of_plan.combine(partials), perm::Error);
    const perm::Task task = task_of(c);
    perm_partial partial = PERM_PARTIAL_INIT;
    CHECK(perm_task_run_shard(task.raw(), -1, &partial) == PERM_BAD_ARGUMENT);
    CHECK(partial.bytes == nullptr);
    CHECK(perm_task_run_shard(task.raw(), 0, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_combine(task.raw(), nullptr, 1, nullptr) == PERM_BAD_ARGUMENT);
}

TEST_CASE("an estimate that is cut off goes on from its checkpoint, with the same bits") {
    int interrupted = 0;
    for (Case &c : all_cases()) {
        CAPTURE(c.name);
        c.wanted.epsilon /= 1.5; // callbacks come every tenth of a second
        const perm_estimated whole = estimated(c);
        const TemporaryFolder folder;
        const std::string file = folder / "kept";
        c.opts.checkpoint = file.c_str();
        c.opts.checkpoint_seconds = 0.02;
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
        perm_estimated found = PERM_ESTIMATED_INIT;
        for (int call = 0; call < 20; ++call) {
            watch.fraction = 0;
            watch.stop_at = 0.2 * call;
            const perm_status status = estimate(c, found);
            if (status == PERM_OK) break;
            REQUIRE(status == PERM_CANCELLED);
            CHECK(contains(perm_last_error(), "the same call goes on from there"));
            CHECK(found.samples == 0);
            ++interrupted;
            const auto about = nlohmann::json::parse(perm::checkpoint_describe(file, PERM_FORMAT_JSON));
            CHECK(about.at("finished") == false);
            CHECK(about.at("fraction") < 1);
        }
        check_same(whole, found);
        const auto about = nlohmann::json::parse(perm::checkpoint_describe(file, PERM_FORMAT_JSON));
        CHECK(about.at("finished") == true);
        CHECK(about.at("n") == c.matrix.view().n_rows);
        CHECK(about.at("samples") == whole.samples);
        CHECK(about.at("upper").at("mantissa") == whole.upper_mantissa);
        CHECK(contains(perm::checkpoint_describe(file), "an estimate of a matrix of order"));
        watch.stop_at = 2;
        check_same(whole, estimated(c)); // again, at once
    }
    MESSAGE("cut off ", interrupted, " times");
    CHECK(interrupted > 0);
}

TEST_CASE("checkpoints of something else") {
    const TemporaryFolder folder;
    const std::string of_estimate = folder / "estimate", of_computation = folder / "computation",
                      damaged = folder / "damaged";
    Case c("nesting", derangements(40), 0.05);
    c.opts.checkpoint = of_estimate.c_str();
    estimated(c);
    const auto refused = [](const Case &other) {
        perm_estimated found = PERM_ESTIMATED_INIT;
        CHECK(estimate(other, found) == PERM_BAD_OPTION);
        return std::string(perm_last_error());
    };
    Case other = c;
    other.wanted.seed = 4;
    CHECK(contains(refused(other), "other options"));
    other = c;
    other.matrix = derangements(39);
    CHECK(contains(refused(other), "another matrix"));
    perm_opts opts = PERM_OPTS_INIT;
    opts.checkpoint = of_computation.c_str();
    const perm::Csr small = hadamard(16);
    const perm_csr view = small.view();
    perm::Result result;
    REQUIRE(perm_compute(&view, &opts, result.raw()) == PERM_OK);
    other = c;
    other.opts.checkpoint = of_computation.c_str();
    CHECK(contains(refused(other), "perm_compute"));
    opts.checkpoint = of_estimate.c_str();
    CHECK(perm_compute(&view, &opts, result.raw()) == PERM_BAD_OPTION);
    CHECK(contains(perm_last_error(), "perm_estimate"));
    whole_file::write(damaged, whole_file::read(of_estimate).substr(0, 100));
    other.opts.checkpoint = damaged.c_str();
    CHECK(contains(refused(other), "remove"));
    CHECK_THROWS_AS(perm::checkpoint_describe(damaged), perm::Error);
}

TEST_CASE("while it runs, progress sees the interval so far") {
    Case c("nesting", derangements(40), 0.0002);
    perm_estimated found = PERM_ESTIMATED_INIT;
    struct Watch {
        const perm_estimated *found;
        int seen = 0;
        double width = HUGE_VAL;
    } watch{&found};
    c.opts.progress = [](double, double, void *to) {
        Watch &w = *static_cast<Watch *>(to);
        if (w.found->lower_mantissa == 0) return;
        const double width = std::log2(w.found->upper_mantissa / w.found->lower_mantissa) +
                             static_cast<double>(w.found->upper_exp2 - w.found->lower_exp2);
        CHECK(width >= 0);
        w.width = width;
        ++w.seen;
    };
    c.opts.progress_user = &watch;
    REQUIRE(estimate(c, found) == PERM_OK);
    MESSAGE("seen ", watch.seen, " times");
    CHECK(watch.seen > 0);
}

TEST_CASE("the C++ wrappers") {
    const Case c("nesting", derangements(40), 0.0005);
    const perm_csr a = c.matrix.view();
    const perm::Task estimation = perm::Task::estimate(a, c.wanted, c.opts);
    const perm_estimated whole = estimation.run_estimate();
    check_same(whole, perm::estimate(a, c.wanted, c.opts));
    std::vector<std::string> partials;
    for (std::int64_t k = 0; k < estimation.shards(); ++k) partials.push_back(estimation.run_shard(k));
    CHECK(estimation.shard_seconds() > 0);
    check_same(whole, estimation.combine_estimate(partials));
    const perm_interval bounds = perm::bounds(a);
    CHECK(std::log2(bounds.lower_mantissa) + static_cast<double>(bounds.lower_exp2) <=
          std::log2(whole.upper_mantissa) + static_cast<double>(whole.upper_exp2));
    const perm::Csr positive = constant(5, 1), negative = constant(3, -1);
    const std::vector<std::int64_t> samples = perm::sample(positive.view(), 3, 7);
    REQUIRE(samples.size() == 15);
    for (const std::int64_t column : samples) CHECK((column >= 0 && column < 5));
    perm_estimate_opts bad = c.wanted;
    bad.epsilon = 2;
    CHECK_THROWS_AS(perm::estimate(a, bad), perm::Error);
    CHECK_THROWS_AS(perm::sample(negative.view(), 1), perm::Error);
}
