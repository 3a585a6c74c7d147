// perm_mpi_compute as a program calls it: run under mpirun with 3 ranks, each of which runs every test case.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "bench/families.hpp"
#include "tests/support/temporary_folder.hpp"

#include <perm.hpp>
#include <perm_mpi.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace {

using perm::families::Random;

int rank = 0, ranks = 1;

double uniform(Random &random) { return random.uniform(0.05, 1); }

perm::Csr dense(std::int64_t n, unsigned seed) {
    Random random(seed);
    return perm::families::build(n, n, [&](std::int64_t, std::int64_t) { return uniform(random); });
}

// 24 rows of 7 ones.
perm::Csr circulant(std::int64_t n) {
    return perm::families::build(n, n, [n](std::int64_t i, std::int64_t j) {
        const std::int64_t offset = (j - i + n) % n;
        for (const int one : {0, 1, 4, 9, 11, 16, 18})
            if (offset == one) return 1.0;
        return 0.0;
    });
}

perm_opts with(const char *engine) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = engine;
    opts.device = "cpu";
    opts.threads = 1;
    return opts;
}

// All ranks call it; rank 0 compares.
void check_same_bits(const perm_csr &a, const perm_opts &opts, bool in_shards = true) {
    perm::Result r;
    const perm_status status =
        perm_mpi_compute(MPI_COMM_WORLD, rank == 0 ? &a : nullptr, &opts, rank == 0 ? r.raw() : nullptr);
    REQUIRE_MESSAGE(status == PERM_OK, perm_mpi_last_error());
    if (rank != 0) return;
    const perm::Plan plan(a, opts);
    if (in_shards) CHECK(perm::Task::plan(plan, a.values).shards() > 2);
    const perm::Result one = plan.execute(a.values);
    CHECK(r.text() == one.text());
    CHECK(r->mantissa_re == one->mantissa_re);
    CHECK(r->mantissa_im == one->mantissa_im);
    CHECK(r->exp2 == one->exp2);
    CHECK(r->rel_error_bound == one->rel_error_bound);
    CHECK(r->exact == one->exact);
    CHECK(std::string(r->engine) == one->engine);
    CHECK(r->threads >= 1);
}

// That every rank gets the same of both.
void check_agreed(perm_status status, perm_status expected, const std::string &word) {
    const std::string text = perm_mpi_last_error();
    CAPTURE(text);
    CHECK(status == expected);
    CHECK(text.find(word) != std::string::npos);
    char first[2048] = "";
    text.copy(first, sizeof first - 1);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(text == first);
}

} // namespace

TEST_CASE("tree and ryser, doubles") {
    check_same_bits(dense(28, 1).view(), with("tree"));
    check_same_bits(dense(25, 1).view(), with("ryser"));
}

TEST_CASE("complex") {
    perm::Csr a = dense(22, 2);
    Random random(3);
    for (const double x : a.values) a.complex_values.emplace_back(x, uniform(random) - 0.5);
    perm_opts opts = with("ryser");
    opts.precision = "double";
    check_same_bits(a.view(), opts);
}

TEST_CASE("exact: integers, decimals, a pattern") {
    perm::Csr a = dense(20, 4);
    std::vector<std::int64_t> integers;
    std::vector<std::string> written;
    std::vector<const char *> texts;
    for (const double x : a.values) integers.push_back(static_cast<std::int64_t>(x * 1000) - 400);
    for (const std::int64_t k : integers) written.push_back(std::to_string(k) + "e-3");
    for (const std::string &text : written) texts.push_back(text.c_str());
    perm_opts opts = with("ryser");
    opts.precision = "exact";
    perm_csr view = a.view();
    view.value_type = PERM_VALUE_I64;
    view.values = integers.data();
    check_same_bits(view, opts, false);
    view.value_type = PERM_VALUE_TEXT;
    view.values = texts.data();
    check_same_bits(view, opts, false);

    perm::Csr ones = circulant(24);
    ones.pattern = true;
    check_same_bits(ones.view(), with("tree"), false);
}

TEST_CASE("the frontier in slices") {
    const perm::Csr a = circulant(30);
    perm_opts opts = with("frontier");
    opts.without = "all";
    opts.memory_limit_bytes = perm::compute(a, opts)->peak_bytes / 4;
    check_same_bits(a.view(), opts);
}

// As perm_estimate, by all ranks.
static perm_status estimate(const perm_csr &a, const perm_estimate_opts &wanted, const perm_opts &opts,
                            perm_estimated &found) {
    perm_opts of_task = opts;
    of_task.checkpoint = nullptr;
    perm_answer answer = PERM_ANSWER_INIT;
    answer.estimate = &found;
    std::optional<const perm::Task> task;
    if (rank == 0) task.emplace(perm::Task::estimate(a, wanted, of_task));
    return perm_mpi_run(MPI_COMM_WORLD, task ? task->raw() : nullptr, &opts, &answer);
}

TEST_CASE("estimates: the samples of one call, by all ranks") {
    const auto but_diagonal = [](double diagonal) {
        return perm::families::build(40, 40,
                                     [=](std::int64_t i, std::int64_t j) { return i == j ? diagonal : 1.0; });
    };
    const perm::Csr positive = but_diagonal(0), with_signs = but_diagonal(-1);
    struct Wish {
        const perm::Csr *a;
        double epsilon;
        const char *method;
        bool is_kept;
    };
    for (const auto [a, epsilon, method, is_kept] :
         {Wish{&positive, 0.0004, nullptr, false}, Wish{&positive, 0.005, "rejection", true},
          Wish{&with_signs, 0.005, nullptr, true}}) {
        const TemporaryFolder folder;
        const std::string file = folder / "kept";
        perm_opts opts = with(nullptr);
        opts.without = "merge,periodic,structure";
        if (rank == 0) opts.seed = 3; // the others are told
        perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
        wanted.epsilon = epsilon;
        wanted.method = method;
        wanted.seed = 9;
        const perm_csr view = a->view();
        perm_estimated one = PERM_ESTIMATED_INIT;
        if (rank == 0) REQUIRE(perm_estimate(&view, &opts, &wanted, &one) == PERM_OK);
        if (is_kept) opts.checkpoint = file.c_str();
        for (int call = 0; call < (is_kept ? 2 : 1); ++call) {
            perm_estimated found = PERM_ESTIMATED_INIT;
            const perm_status status = estimate(view, wanted, opts, found);
            REQUIRE_MESSAGE(status == PERM_OK, perm_mpi_last_error());
            if (rank != 0) continue;
            CHECK(found.mantissa_re == one.mantissa_re);
            CHECK(found.exp2 == one.exp2);
            CHECK(found.lower_mantissa == one.lower_mantissa);
            CHECK(found.upper_mantissa == one.upper_mantissa);
            CHECK(found.samples == one.samples);
            CHECK(found.samples > 0);
        }
        wanted.seed = 10;
        if (is_kept) check_agreed(estimate(view, wanted, opts, one), PERM_BAD_OPTION, "another matrix");
    }
    check_agreed(perm_mpi_run(MPI_COMM_WORLD, nullptr, nullptr, nullptr), PERM_BAD_ARGUMENT, "null pointer");
}

TEST_CASE("derivatives and minors: the bits of one process") {
    const perm::Csr a = dense(24, 31);
    const perm_opts opts = with(nullptr);
    const perm::Plan plan(a, opts);
    perm_dense tall = PERM_DENSE_INIT;
    tall.n_rows = 24;
    tall.n_cols = 23;
    tall.values = a.values.data();
    for (const bool is_gradient : {true, false}) {
        const perm::Task task =
            is_gradient ? perm::Task::gradient(plan, a.values.data()) : perm::Task::minors(tall, opts);
        const perm::Task::Numbers one = task.run_numbers();
        CHECK(task.shards() > 2);
        perm_answer answer = PERM_ANSWER_INIT;
        REQUIRE(perm_task_room(task.raw(), &answer) == PERM_OK);
        perm::Task::Numbers found;
        found.numbers.resize(one.numbers.size());
        found.error_bounds.resize(one.error_bounds.size());
        answer.numbers = found.numbers.data();
        answer.error_bounds = found.error_bounds.data();
        answer.results = is_gradient ? found.result.raw() : nullptr;
        const perm_status status =
            perm_mpi_run(MPI_COMM_WORLD, rank == 0 ? task.raw() : nullptr, &opts, &answer);
        REQUIRE_MESSAGE(status == PERM_OK, perm_mpi_last_error());
        if (rank != 0) continue;
        CHECK(found.numbers == one.numbers);
        CHECK(found.error_bounds == one.error_bounds);
        if (is_gradient) CHECK(found.result.text() == one.result.text());
    }
}

TEST_CASE("many blocks, with multiplicities") {
    constexpr std::int64_t blocks = 24, n = 16;
    Random random(5);
    const perm::Csr a = perm::families::build(blocks * n, blocks * n, [&](std::int64_t i, std::int64_t j) {
        return i / n == j / n ? uniform(random) : 0.0;
    });
    perm_opts opts = with("ryser");
    check_same_bits(a.view(), opts, false);

    const perm::Csr b = dense(12, 6);
    const std::vector<std::int64_t> twice(12, 2);
    perm_csr view = b.view();
    view.row_multiplicity = view.col_multiplicity = twice.data();
    check_same_bits(view, with(nullptr), false);
}

TEST_CASE("the least there is") {
    const perm::Csr none;
    check_same_bits(none.view(), with(nullptr), false);
    check_same_bits(dense(1, 7).view(), with(nullptr), false);
    check_same_bits(dense(3, 8).view(), with("ryser"), false);
}

TEST_CASE("bad input on rank 0 is told to all") {
    perm::Csr a = dense(5, 9);
    a.col_idx[3] = 77;
    perm_csr view = a.view();
    perm::Result r;
    const auto compute = [&](const perm_csr *matrix, const perm_opts &opts) {
        return perm_mpi_compute(MPI_COMM_WORLD, matrix, &opts, r.raw());
    };
    check_agreed(compute(&view, with("tree")), PERM_BAD_MATRIX, "77");
    CHECK(r->text == nullptr);
    check_agreed(compute(nullptr, with("tree")), PERM_BAD_ARGUMENT, "null");
    const perm::Csr good = dense(5, 9);
    view = good.view();
    view.values = nullptr;
    check_agreed(compute(&view, with("tree")), PERM_BAD_ARGUMENT, "values");
    view = good.view();
    check_agreed(compute(&view, with("nonsense")), PERM_BAD_OPTION, "nonsense");
    perm_opts elsewhere = with("tree");
    elsewhere.machine = "{}";
    check_agreed(compute(&view, elsewhere), PERM_BAD_OPTION, "leave out the option machine");
    check_agreed(perm_mpi_compute(MPI_COMM_WORLD, &view, nullptr, nullptr), PERM_BAD_ARGUMENT, "result");
    CHECK(perm_mpi_compute(MPI_COMM_NULL, &view, nullptr, r.raw()) == PERM_BAD_ARGUMENT);

    const perm::Csr large = dense(60, 10);
    view = large.view();
    check_agreed(compute(&view, with("ryser")), PERM_REFUSED_TIME, "time_limit_seconds");
}

TEST_CASE("an error of one rank is all ranks' error") {
    const perm::Csr a = dense(24, 11);
    const perm_csr view = a.view();
    perm::Result r;
    perm_opts opts = with("tree");
    if (rank == 2) opts.threads = -1;
    check_agreed(perm_mpi_compute(MPI_COMM_WORLD, &view, &opts, r.raw()), PERM_BAD_OPTION, "rank 2: threads");
    opts = with("tree");
    if (rank == 1) opts.struct_size = 8;
    check_agreed(perm_mpi_compute(MPI_COMM_WORLD, &view, &opts, r.raw()), PERM_BAD_ARGUMENT, "rank 1: ");
    const perm::Csr b = circulant(30);
    const perm_csr table = b.view();
    opts = with("frontier");
    opts.without = "all";
    opts.memory_limit_bytes = perm::compute(b, opts)->peak_bytes / 4;
    if (rank == 1) opts.memory_limit_bytes = 1; // which its shards meet with
    check_agreed(perm_mpi_compute(MPI_COMM_WORLD, &table, &opts, r.raw()), PERM_REFUSED_MEMORY, "rank 1: ");
    CHECK(r->text == nullptr);
    check_same_bits(view, with("tree"), false);
}

TEST_CASE("any rank may stop it, and so does the time limit") {
    const perm::Csr a = dense(44, 12);
    const perm_csr view = a.view();
    perm::Result r;
    for (int who = 0; who < ranks; ++who) {
        CAPTURE(who);
        int polls = rank == who ? 2 : 1 << 30;
        perm_opts opts = with("tree");
        opts.time_limit_seconds = 1e9;
        opts.cancel_user = &polls;
        opts.cancel = [](void *left) { return static_cast<int>(--*static_cast<int *>(left) < 0); };
        check_agreed(perm_mpi_compute(MPI_COMM_WORLD, &view, &opts, r.raw()), PERM_CANCELLED, "cancelled");
    }
    perm_opts opts = with("tree");
    opts.time_limit_seconds = 1e-6;
    check_agreed(perm_mpi_compute(MPI_COMM_WORLD, &view, &opts, r.raw()), PERM_REFUSED_TIME,
                 "time_limit_seconds");
}

TEST_CASE("progress goes up to the end, on rank 0") {
    struct Told {
        double last = 0;
        int calls = 0;
        bool goes_up = true;
    } told;
    perm_opts opts = with("tree");
    opts.progress_user = &told;
    opts.progress = [](double fraction, double, void *user) {
        Told &t = *static_cast<Told *>(user);
        t.goes_up = t.goes_up && fraction >= t.last && fraction <= 1;
        t.last = fraction;
        ++t.calls;
    };
    const perm::Csr a = dense(25, 13);
    const perm_csr view = a.view();
    perm::Result r;
    REQUIRE(perm_mpi_compute(MPI_COMM_WORLD, &view, &opts, r.raw()) == PERM_OK);
    CHECK(told.goes_up);
    CHECK((told.calls > 0) == (rank == 0));
}

TEST_CASE("a checkpoint is gone on from, and one of another matrix refused") {
    const TemporaryFolder folder; // rank 0's counts
    const std::string file = folder / "kept";
    const perm::Csr a = dense(29, 14), b = dense(29, 15);
    perm_csr view = a.view();
    perm::Result r;
    int polls = 5;
    perm_opts opts = with("tree");
    opts.checkpoint = file.c_str();
    opts.cancel_user = &polls;
    opts.cancel = [](void *left) { return static_cast<int>(--*static_cast<int *>(left) < 0); };
    const perm_status stopped = perm_mpi_compute(MPI_COMM_WORLD, &view, &opts, r.raw());
    if (stopped != PERM_OK) check_agreed(stopped, PERM_CANCELLED, "the same call goes on from there");
    if (rank == 0) CHECK(std::filesystem::exists(file));

    opts.cancel = nullptr;
    view = b.view();
    check_agreed(perm_mpi_compute(MPI_COMM_WORLD, &view, &opts, r.raw()), PERM_BAD_OPTION, "another matrix");
    view = a.view();
    perm_opts other = opts;
    other.engine = "ryser";
    check_agreed(perm_mpi_compute(MPI_COMM_WORLD, &view, &other, r.raw()), PERM_BAD_OPTION, "engine");

    MPI_Comm two = MPI_COMM_NULL; // fewer go on
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &two);
    if (two != MPI_COMM_NULL) {
        REQUIRE(perm_mpi_compute(two, &view, &opts, r.raw()) == PERM_OK);
        MPI_Comm_free(&two);
    }
    if (rank == 0) CHECK(r.text() == perm::compute(a, with("tree")).text());
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    doctest::Context context(argc, argv);
    const int failed = context.run();
    MPI_Finalize();
    return failed;
}
