// Terms of periodic matrices as tasks: in shards, as bytes, with checkpoints, against a recurrence in GMP;
// and all that is refused.
#include "bench/families.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <gmpxx.h>
#include <nlohmann/json.hpp>
#include <perm.hpp>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using perm::families::Random;

namespace {

// A cell of one row, coupled to the cells beside it; its permanents are those of a tridiagonal matrix,
// a(m) = own a(m - 1) + before behind a(m - 2).
struct Chain {
    std::string before, own, behind; // real numbers, as they are written
    perm_opts opts = PERM_OPTS_INIT;

    perm::Periodic plan() const {
        const std::array<std::int64_t, 2> row_ptr{0, 3};
        const std::array<std::int64_t, 3> col{0, 1, 2};
        const std::array<const char *, 3> values{before.c_str(), own.c_str(), behind.c_str()};
        perm_csr cell = PERM_CSR_INIT;
        cell.n_rows = 1;
        cell.n_cols = cell.nnz = 3;
        cell.row_ptr = row_ptr.data();
        cell.col_idx = col.data();
        cell.values = values.data();
        cell.value_type = PERM_VALUE_TEXT;
        return perm::Periodic(cell, false, opts);
    }

    // By powers of the recurrence's matrix.
    std::string term(std::int64_t m) const {
        using Square = std::array<mpq_class, 4>;
        const auto product = [](const Square &x, const Square &y) {
            return Square{x[0] * y[0] + x[1] * y[2], x[0] * y[1] + x[1] * y[3], x[2] * y[0] + x[3] * y[2],
                          x[2] * y[1] + x[3] * y[3]};
        };
        Square step{mpq_class(own), mpq_class(before) * mpq_class(behind), 1, 0}, power{1, 0, 0, 1};
        for (; m > 0; m /= 2, step = product(step, step))
            if (m % 2 == 1) power = product(power, step);
        return power[0].get_str();
    }
};

Chain integers() {
    Chain c{"3", "5", "-7"};
    c.opts.precision = "exact";
    c.opts.device = "cpu";
    return c;
}

std::string text_of(const std::vector<perm::Result> &results) {
    std::string text;
    for (const perm::Result &r : results) text += r.text() + "\n";
    return text;
}

// So far out that its primes are thousands.
std::int64_t far() { return run::sanitized ? 60000 : 150000; }

std::vector<std::string> all_shards(const perm::Task &task) {
    std::vector<std::string> partials;
    for (std::int64_t k = 0; k < task.shards(); ++k) partials.push_back(task.run_shard(k));
    return partials;
}

void check_refused(const std::function<void()> &work, const std::string &word, perm_status status) {
    try {
        work();
        FAIL_CHECK("not refused: " << word);
    } catch (const perm::Error &error) {
        CAPTURE(std::string(error.what()));
        CHECK(std::string(error.what()).find(word) != std::string::npos);
        CHECK(error.status() == status);
    }
}

// By those who loaded it, in any order; then its answer.
std::string shared_out(const perm::Task &task, Random &random, std::int64_t &shards) {
    const std::string bytes = task.save();
    std::vector<std::string> partials;
    perm_opts theirs = PERM_OPTS_INIT;
    theirs.device = "cpu";
    for (const std::int64_t k : random.permutation(task.shards())) {
        theirs.threads = static_cast<std::int32_t>(random.integer(1, 3));
        const perm::Task other = perm::Task::load(bytes, theirs);
        CHECK(other.shards() == task.shards());
        partials.push_back(other.run_shard(k));
    }
    shards += task.shards();
    const perm::Task other = perm::Task::load(bytes, theirs);
    CHECK(other.save() == bytes);
    const std::string found = text_of(other.combine(partials));
    CHECK(found == text_of(task.run()));
    return found;
}

} // namespace

TEST_CASE("shards of exact terms, put together: those of the recurrence") {
    Random random(run::seed(4201));
    std::int64_t shards = 0;
    for (Chain chain : {integers(), Chain{"1/3", "-2", "5/2", integers().opts}}) {
        CAPTURE(chain.own);
        const perm::Periodic plan = chain.plan();
        const std::string truth = chain.term(far()) + "\n" + chain.term(far() + 1) + "\n";
        CHECK(shared_out(perm::Task::periodic(plan, far(), 2), random, shards) == truth);
        CHECK(text_of(plan.terms(far(), 2)) == truth);
        std::string first;
        for (std::int64_t m = 0; m < 40; ++m) first += chain.term(m) + "\n";
        CHECK(shared_out(perm::Task::periodic(plan, 0, 40), random, shards) == first);
    }
    MESSAGE(shards, " shards");
    CHECK(shards > 6);
}

TEST_CASE("shards of joined ends, a head and a tail, and of numbers that are one piece") {
    Random random(run::seed(4202));
    std::int64_t shards = 0, several = 0;
    const perm::Csr cell = perm::lattice_cell(run::sanitized ? "grid:7" : "grid:9"),
                    head = perm::families::build(
                        1, 10, [](std::int64_t, std::int64_t j) { return static_cast<double>(1 + j % 3); });
    for (const char *precision : {"exact", "double", "dd", "auto", "mod:2305843009213693951"})
        for (const bool joined : {true, false}) {
            CAPTURE(precision);
            CAPTURE(joined);
            perm_opts opts = PERM_OPTS_INIT;
            opts.precision = precision;
            opts.device = "cpu";
            const perm::Periodic plan(cell.view(), joined, opts);
            const std::string at_once = text_of(plan.terms(59, 2));
            const std::int64_t before = shards;
            CHECK(shared_out(perm::Task::periodic(plan, 59, 2), random, shards) == at_once);
            several += shards - before > 1;
        }
    const perm::Csr three = perm::families::build(
        1, 3, [](std::int64_t, std::int64_t j) { return 0.5 + static_cast<double>(j); });
    const perm::Csr ends[] = {
        perm::families::build(1, 2,
                              [](std::int64_t, std::int64_t j) { return 2.0 + static_cast<double>(j); }),
        perm::families::build(1, 2,
                              [](std::int64_t, std::int64_t j) { return 4.0 - static_cast<double>(j); })};
    const perm_csr view = three.view(), above = ends[0].view(), below = ends[1].view();
    perm_periodic a = PERM_PERIODIC_INIT;
    a.cell = &view;
    a.head = &above;
    a.tail = &below;
    const perm::Periodic plan(a);
    CHECK(shared_out(perm::Task::periodic(plan, 3, 4), random, shards) == text_of(plan.terms(3, 4)));
    MESSAGE(shards, " shards");
    if (!run::sanitized) CHECK(several > 0); // the smaller cell is one piece
}

TEST_CASE("parts that are missing, torn, of other terms or none") {
    const Chain chain = integers();
    const perm::Periodic plan = chain.plan();
    const perm::Task task = perm::Task::periodic(plan, far(), 1);
    const std::vector<std::string> partials = all_shards(task);
    REQUIRE(partials.size() > 1);
    const auto with_last = [&](const std::string &other) {
        std::vector<std::string> mixed = partials;
        mixed.back() = other;
        return mixed;
    };
    check_refused([&] { task.combine({}); }, "the first is 0", PERM_BAD_ARGUMENT);
    check_refused([&] { task.combine(with_last(partials.front())); }, "missing", PERM_BAD_ARGUMENT);
    check_refused([&] { task.combine(with_last(partials.back().substr(0, 60))); }, "partial result",
                  PERM_BAD_ARGUMENT);
    check_refused([&] { task.run_shard(task.shards()); }, "there is no shard", PERM_BAD_ARGUMENT);
    const auto refuse_part_of = [&](const perm::Periodic &other, std::int64_t first, const char *word) {
        const std::string part = perm::Task::periodic(other, first, 1).run_shard(0);
        check_refused([&] { task.combine(with_last(part)); }, word, PERM_BAD_ARGUMENT);
    };
    refuse_part_of(plan, far() + 1, "other lengths");
    Chain other = chain;
    other.own = "6";
    refuse_part_of(other.plan(), far(), "another periodic matrix");
    other = chain;
    other.opts.precision = "double";
    refuse_part_of(other.plan(), far(), "computed otherwise");
    const std::string bytes = task.save();
    check_refused([&] { perm::Task::load(bytes.substr(0, bytes.size() - 1)); }, "task", PERM_BAD_ARGUMENT);
    std::string damaged = bytes;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
    check_refused([&] { perm::Task::load(damaged); }, "damaged", PERM_BAD_ARGUMENT);
    check_refused([&] { perm::Task::periodic(plan, 5, 0); }, "count is 0", PERM_BAD_ARGUMENT);
    check_refused([&] { perm::Task::periodic(plan, -1, 1); }, "length", PERM_BAD_ARGUMENT);
    CHECK(nlohmann::json::parse(task.explain(PERM_FORMAT_JSON)).at("task") == "periodic terms");
    perm_task *none = nullptr;
    CHECK(perm_task_periodic(nullptr, 1, 1, &none) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_periodic(plan.raw(), 1, 1, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(none == nullptr);
}

TEST_CASE("terms that are cut off go on from their checkpoint, with the same digits") {
    std::int64_t length = 3 * far();
    Chain chain = integers();
    std::string truth;
    const MemoryFolder folder;
    std::string file;
    struct Watch {
        double fraction = 0, stop_at = 0;
    } watch;
    chain.opts.checkpoint_seconds = 0.001;
    chain.opts.threads = 1;
    chain.opts.progress = [](double fraction, double, void *to) {
        static_cast<Watch *>(to)->fraction = fraction;
    };
    chain.opts.cancel = [](void *to) {
        const Watch &seen = *static_cast<Watch *>(to);
        return seen.fraction > seen.stop_at && seen.fraction < 1 ? 1 : 0; // 1: it is answered, and kept
    };
    chain.opts.progress_user = chain.opts.cancel_user = &watch;
    std::string found;
    int interrupted = 0;
    for (; interrupted == 0 && length < 100 * far(); length *= 2) { // whether to cancel is asked every 0.1 s
        file = folder / std::to_string(length);
        chain.opts.checkpoint = file.c_str();
        found.clear();
        truth = chain.term(length) + "\n";
        for (int call = 0; call < 20 && found.empty(); ++call) {
            watch = {0, 0.1 * (call + 1)};
            try {
                found = text_of(chain.plan().terms(length, 1));
            } catch (const perm::Error &error) {
                REQUIRE(error.status() == PERM_CANCELLED);
                CHECK(std::string(error.what()).find("goes on from there") != std::string::npos);
                ++interrupted;
            }
        }
    }
    length /= 2;
    MESSAGE("cut off ", interrupted, " times");
    CHECK(interrupted > 0);
    CHECK(found == truth);
    const auto about = nlohmann::json::parse(perm::checkpoint_describe(file, PERM_FORMAT_JSON));
    CHECK(about.at("finished") == true);
    CHECK(about.at("n") == length);
    CHECK(perm::checkpoint_describe(file).find("periodic terms of a matrix") != std::string::npos);
    watch = {0, 2};
    CHECK(chain.plan().execute(length).text() + "\n" == truth); // again, at once
    check_refused([&] { chain.plan().execute(length + 1); }, "is of other lengths", PERM_BAD_OPTION);
    check_refused([&] { chain.plan().growth(); }, "checkpoint", PERM_UNSUPPORTED);
    check_refused([&] { chain.plan().generating_function(); }, "checkpoint", PERM_UNSUPPORTED);
    Chain other = chain;
    other.before = "4";
    check_refused([&] { other.plan().execute(length); }, "is of another periodic matrix", PERM_BAD_OPTION);
    other = chain;
    other.opts.precision = "mod:1000003";
    check_refused([&] { other.plan().execute(length); }, "computed otherwise", PERM_BAD_OPTION);
    const perm::Csr dense = perm::families::build(4, 4, [](std::int64_t, std::int64_t) { return 2.0; });
    other.opts.precision = nullptr;
    check_refused([&] { perm::Plan(dense, other.opts).execute(dense.values.data()); },
                  "terms of a periodic matrix", PERM_BAD_OPTION);
}

TEST_CASE("terms in one piece, and those that miss the tolerance, with a checkpoint") {
    for (const char *precision : {"double", "auto", "mod:1000003"}) {
        CAPTURE(precision);
        const MemoryFolder folder;
        const std::string file = folder / "kept";
        Chain chain{"0.3", "-0.11", "0.7"}; // signs that cancel
        chain.opts.precision = precision;
        chain.opts.tolerance = 1e-30; // so that auto goes on
        const std::string at_once = text_of(chain.plan().terms(20, 30));
        chain.opts.checkpoint = file.c_str();
        CHECK(text_of(chain.plan().terms(20, 30)) == at_once);
        CHECK(text_of(chain.plan().terms(20, 30)) == at_once);
    }
}
