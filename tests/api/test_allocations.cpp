// Every allocation of a call fails once : the call gives an error status or its
// answer, nothing ends the process, nothing is lost, and the next call works. And again with all that follow
// it failing too.
#include "tests/support/failing_allocations.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <perm.h>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

struct Matrix {
    std::vector<std::int64_t> row_ptr{0}, col_idx;
    std::vector<double> doubles;
    std::vector<std::int64_t> integers, row_multiplicity;
    std::vector<const char *> texts;
    perm_csr csr = PERM_CSR_INIT;
};

enum class Kind { doubles, complex, integers, texts, pattern };

// Of order n, all entries or a band; signed.
Matrix matrix(Kind kind, std::int64_t n, std::int64_t band) {
    Matrix a;
    static constexpr const char *words[] = {"1/3", "-0.7", "12345678901234567890123", "2e30"};
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            if (std::abs(i - j) > band) continue;
            a.col_idx.push_back(j);
            const double x = static_cast<double>((7 * i + 5 * j) % 11 - 4) / 3 + 0.1;
            a.doubles.push_back(x);
            if (kind == Kind::complex) a.doubles.push_back(x / 7 - 0.3);
            a.integers.push_back(1000000007 * ((3 * i + j) % 7 - 2) + j);
            a.texts.push_back(words[static_cast<std::size_t>((i + 2 * j) % 4)]);
        }
        a.row_ptr.push_back(static_cast<std::int64_t>(a.col_idx.size()));
    }
    return a;
}

perm_csr csr(const Matrix &a, Kind kind) {
    perm_csr out = PERM_CSR_INIT;
    out.n_rows = out.n_cols = static_cast<std::int64_t>(a.row_ptr.size()) - 1;
    out.nnz = static_cast<std::int64_t>(a.col_idx.size());
    out.row_ptr = a.row_ptr.data();
    out.col_idx = a.col_idx.data();
    switch (kind) {
    case Kind::doubles:
        out.values = a.doubles.data();
        break;
    case Kind::complex:
        out.value_type = PERM_VALUE_C128;
        out.values = a.doubles.data();
        break;
    case Kind::integers:
        out.value_type = PERM_VALUE_I64;
        out.values = a.integers.data();
        break;
    case Kind::texts:
        out.value_type = PERM_VALUE_TEXT;
        out.values = a.texts.data();
        break;
    case Kind::pattern:
        out.value_type = PERM_VALUE_PATTERN;
        break;
    }
    return out;
}

// What a call came to: its status, and what it answered.
struct Outcome {
    perm_status status = PERM_OK;
    std::string answer;
};

using Call = std::function<Outcome()>;

std::int64_t asked_for_by_all = 0;
int calls = 0, failures = 0, refused = 0;

// The answer may be another way's, with another bound: that of a run that was made again, or that was left
// out.
void check_outcome(const Outcome &found, const Outcome &expected, bool may_differ) {
    if (found.status != PERM_OK) {
        ++refused;
        CHECK(std::string(perm_last_error()) != "");
        CHECK((found.status == PERM_OUT_OF_MEMORY || found.status == PERM_INTERNAL ||
               found.status == PERM_UNSUPPORTED || found.status == PERM_BAD_OPTION ||
               found.status == PERM_BAD_ARGUMENT));
        return;
    }
    if (!may_differ && found.answer != expected.answer) CHECK(found.answer == expected.answer);
}

void sweep(const std::string &name, const Call &call, bool may_differ = false) {
    const Outcome expected = call();
    INFO(name);
    REQUIRE_MESSAGE(expected.status == PERM_OK, perm_last_error());
    failing::arm(-1);
    call();
    const std::int64_t asked_for = failing::disarm();
    asked_for_by_all += asked_for; // a tape's run asks for none
    const std::int64_t step = run::sanitized ? 1 + asked_for / 60 : 1 + asked_for / (run::cases(400));
    for (std::int64_t k = 0; k < asked_for; k += step) {
        INFO("allocation ", k, " of ", asked_for);
        std::int64_t alive[2];
        for (std::int64_t &blocks : alive) {
            {
                failing::arm(k);
                const Outcome found = call();
                failing::disarm();
                ++failures;
                check_outcome(found, expected, may_differ);
            }
            {
                const Outcome again = call();
                CHECK(again.status == PERM_OK);
                CHECK(again.answer == expected.answer);
            }
            blocks = failing::blocks();
        }
        if (alive[0] < alive[1]) CHECK(alive[0] == alive[1]);
    }
    ++calls;
}

Outcome told(perm_status status, perm_result &result) {
    Outcome outcome{status, {}};
    if (status == PERM_OK && result.text) outcome.answer = result.text;
    perm_result_clear(&result);
    return outcome;
}

perm_opts options(const char *precision, const char *engine = nullptr) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.precision = precision;
    opts.engine = engine;
    opts.threads = 1;
    opts.cache_dir = "";
    opts.device = "cpu";
    return opts;
}

struct Plan {
    perm_plan *plan = nullptr;
    perm_status status;
    Plan(const perm_csr &a, const perm_opts &opts)
        : status(failing::within([&] { return perm_plan_create(&a, &opts, &plan); })) {}
    ~Plan() { perm_plan_destroy(plan); }
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;
};

template <class Write> Outcome bytes_of(const Write &write) {
    std::size_t needed = 0;
    Outcome outcome{failing::within([&] { return write(nullptr, std::size_t{0}, &needed); }), {}};
    if (outcome.status != PERM_OK) return outcome;
    static char buffer[1 << 20];
    if (needed > sizeof buffer) return outcome;
    outcome.status = failing::within([&] { return write(buffer, needed, &needed); });
    return outcome;
}

// At a beam splitter.
perm_boson three_photons() {
    static constexpr double amplitudes[] = {0.6, 0, 0, 0.8, 0, 0.8, 0.6, 0};
    static constexpr std::int64_t photons[] = {0, 1, 1};
    perm_boson experiment = PERM_BOSON_INIT;
    experiment.modes = experiment.inputs = 2;
    experiment.amplitudes = amplitudes;
    experiment.photons = 3;
    experiment.photon_modes = photons;
    return experiment;
}

} // namespace

TEST_CASE("perm_compute in every kind of numbers") {
    const struct {
        const char *name;
        Kind kind;
        std::int64_t n, band;
        const char *precision, *engine;
    } cases[] = {{"doubles, 7 x 7", Kind::doubles, 7, 7, nullptr, nullptr},
                 {"doubles, a band", Kind::doubles, 12, 1, nullptr, nullptr},
                 {"doubles, frontier", Kind::doubles, 7, 2, "double", "frontier"},
                 {"doubles, ryser", Kind::doubles, 7, 7, "double", "ryser"},
                 {"doubles, tree", Kind::doubles, 7, 3, "dd", "tree"},
                 {"complex", Kind::complex, 6, 2, nullptr, nullptr},
                 {"integers", Kind::integers, 7, 3, nullptr, nullptr},
                 {"texts", Kind::texts, 5, 2, nullptr, nullptr},
                 {"pattern, exact", Kind::pattern, 8, 2, "exact", nullptr},
                 {"texts, exact", Kind::texts, 5, 5, "exact", nullptr},
                 {"MPFR", Kind::doubles, 6, 6, "mpfr:200", nullptr}};
    for (const auto &c : cases) {
        const Matrix a = matrix(c.kind, c.n, c.band);
        const perm_csr given = csr(a, c.kind);
        const perm_opts opts = options(c.precision, c.engine);
        sweep(
            c.name,
            [&] {
                perm_result result = PERM_RESULT_INIT;
                return told(failing::within([&] { return perm_compute(&given, &opts, &result); }), result);
            },
            c.precision == nullptr);
    }
}

TEST_CASE("perm_compute_product in every kind of numbers") {
    for (const Kind kind : {Kind::doubles, Kind::complex, Kind::integers, Kind::texts}) {
        const Matrix a = matrix(kind, 6, 6); // of which 6 x 2 numbers are one factor, and the next the other
        const perm_csr given = csr(a, kind);
        const auto *numbers = static_cast<const char *>(given.values);
        perm_factors factors = PERM_FACTORS_INIT;
        factors.n = 6;
        factors.rank = 2;
        factors.u = numbers;
        factors.v = numbers + 12 * (kind == Kind::complex ? 16 : 8);
        factors.value_type = given.value_type;
        const perm_opts opts = options(nullptr);
        sweep("perm_compute_product", [&] {
            perm_result result = PERM_RESULT_INIT;
            return told(failing::within([&] { return perm_compute_product(&factors, &opts, &result); }),
                        result);
        });
    }
}

TEST_CASE("plans: made, executed and explained") {
    const Matrix a = matrix(Kind::doubles, 9, 2);
    const perm_csr given = csr(a, Kind::doubles);
    const perm_opts opts = options("double");
    sweep("perm_plan_create", [&] { return Outcome{Plan(given, opts).status, {}}; });
    const Plan made(given, opts);
    REQUIRE(made.status == PERM_OK);
    const void *values = a.doubles.data();
    sweep("perm_plan_execute", [&] {
        perm_result result = PERM_RESULT_INIT;
        return told(failing::within([&] { return perm_plan_execute(made.plan, values, &result); }), result);
    });
    sweep("perm_plan_execute_batch", [&] {
        perm_result results[3] = {PERM_RESULT_INIT, PERM_RESULT_INIT, PERM_RESULT_INIT};
        const perm_status status =
            failing::within([&] { return perm_plan_execute_batch(made.plan, values, 0, 3, results); });
        for (perm_result &result : results) perm_result_clear(&result);
        return Outcome{status, {}};
    });
    sweep("perm_matchings", [&] {
        std::vector<perm_result> results(10, perm_result PERM_RESULT_INIT);
        const perm_status status =
            failing::within([&] { return perm_matchings(&given, nullptr, 10, results.data()); });
        for (perm_result &result : results) perm_result_clear(&result);
        return Outcome{status, {}};
    });
    sweep("perm_plan_marginals", [&] {
        std::vector<double> marginals(a.col_idx.size() + 18);
        std::vector<double> positive = a.doubles;
        for (double &x : positive) x = std::fabs(x);
        perm_result result = PERM_RESULT_INIT;
        return told(failing::within([&] {
                        return perm_plan_marginals(made.plan, positive.data(), marginals.data(), nullptr,
                                                   &result);
                    }),
                    result);
    });
    sweep("perm_marginals", [&] {
        constexpr std::int64_t rows = 14, cols = 16; // more lines than small ones have
        static std::vector<std::int64_t> row_ptr, col_idx;
        static const std::vector<double> numbers(rows * cols + rows + cols, 0.5);
        if (row_ptr.empty())
            for (std::int64_t k = 0; k <= rows; ++k) {
                row_ptr.push_back(k * cols);
                for (std::int64_t j = 0; k < rows && j < cols; ++j) col_idx.push_back(j);
            }
        perm_csr full = PERM_CSR_INIT;
        full.n_rows = rows, full.n_cols = cols, full.nnz = rows * cols;
        full.row_ptr = row_ptr.data(), full.col_idx = col_idx.data(), full.values = numbers.data();
        full.row_unmatched = numbers.data() + full.nnz;
        full.col_unmatched = numbers.data() + full.nnz + rows;
        std::vector<double> marginals(numbers.size());
        perm_result result = PERM_RESULT_INIT;
        return told(failing::within(
                        [&] { return perm_marginals(&full, nullptr, marginals.data(), nullptr, &result); }),
                    result);
    });
    sweep("perm_plan_gradient", [&] {
        std::vector<double> gradient(a.col_idx.size());
        perm_result result = PERM_RESULT_INIT;
        const Plan fresh(given, opts);
        if (fresh.status != PERM_OK) return Outcome{fresh.status, {}};
        return told(failing::within([&] {
                        return perm_plan_gradient(fresh.plan, values, gradient.data(), nullptr, &result);
                    }),
                    result);
    });
    const std::vector<double> full(64, 0.5);
    perm_dense dense = PERM_DENSE_INIT;
    dense.n_rows = dense.n_cols = 8;
    dense.values = full.data();
    sweep("perm_gradients", [&] {
        std::vector<double> gradient(64), bounds(64);
        double permanent = 0;
        return Outcome{failing::within([&] {
                           return perm_gradients(&dense, &opts, gradient.data(), bounds.data(), &permanent,
                                                 nullptr);
                       }),
                       {}};
    });
    dense.count = 8;
    const std::vector<double> eight(8 * 64, 0.25);
    dense.values = eight.data();
    dense.n_rows = 4; // 16 columns: by a plan each
    dense.n_cols = 16;
    sweep("perm_permanents", [&] {
        std::vector<double> numbers(8), bounds(8);
        return Outcome{
            failing::within([&] { return perm_permanents(&dense, &opts, numbers.data(), bounds.data()); }),
            {}};
    });
    dense.count = 1;
    dense.values = full.data();
    dense.n_rows = 8;
    dense.n_cols = 7;
    sweep("perm_sub_permanents", [&] {
        std::vector<double> minors(8), bounds(8);
        return Outcome{
            failing::within([&] { return perm_sub_permanents(&dense, &opts, minors.data(), bounds.data()); }),
            {}};
    });
    const perm_boson experiment = three_photons();
    sweep("perm_sample_photons", [&] {
        std::vector<std::int64_t> samples(8);
        return Outcome{
            failing::within([&] { return perm_sample_photons(&experiment, &opts, 4, 1, samples.data()); }),
            {}};
    });
    const perm_opts plain = options(nullptr);
    sweep("perm_estimate", [&] {
        perm_estimated estimate = PERM_ESTIMATED_INIT;
        return Outcome{failing::within([&] { return perm_estimate(&given, &plain, nullptr, &estimate); }),
                       {}};
    });
    sweep("perm_bounds", [&] {
        perm_interval bounds = PERM_INTERVAL_INIT;
        return Outcome{failing::within([&] { return perm_bounds(&given, &plain, &bounds); }), {}};
    });
    sweep("perm_sample", [&] {
        std::vector<double> positive = a.doubles;
        for (double &x : positive) x = std::fabs(x);
        perm_csr nonnegative = given;
        nonnegative.values = positive.data();
        std::vector<std::int64_t> columns(static_cast<std::size_t>(3 * given.n_rows));
        return Outcome{
            failing::within([&] { return perm_sample(&nonnegative, &plain, 3, 1, columns.data()); }), {}};
    });
    sweep("perm_sampler_draw", [&] {
        std::vector<double> positive = a.doubles;
        for (double &x : positive) x = std::fabs(x);
        perm_csr nonnegative = given;
        nonnegative.values = positive.data();
        std::vector<std::int64_t> columns(static_cast<std::size_t>(3 * given.n_rows));
        perm_sampler *sampler = nullptr;
        const perm_status status = failing::within([&] {
            const perm_status created = perm_sampler_create(&nonnegative, &plain, 3, 1, &sampler);
            return created == PERM_OK ? perm_sampler_draw(sampler, 2, columns.data()) : created;
        });
        perm_sampler_destroy(sampler);
        return Outcome{status, {}};
    });
    sweep("perm_plan_gradient_batch", [&] {
        std::vector<double> gradients(2 * a.col_idx.size());
        perm_result results[2] = {PERM_RESULT_INIT, PERM_RESULT_INIT};
        const Plan fresh(given, opts);
        if (fresh.status != PERM_OK) return Outcome{fresh.status, {}};
        const perm_status status = failing::within([&] {
            return perm_plan_gradient_batch(fresh.plan, values, 0, 2, gradients.data(), nullptr, results);
        });
        for (perm_result &result : results) perm_result_clear(&result);
        return Outcome{status, {}};
    });
    const struct {
        const char *name;
        perm_format format;
    } formats[] = {{"perm_plan_explain", PERM_FORMAT_TEXT},
                   {"perm_plan_explain in JSON", PERM_FORMAT_JSON},
                   {"perm_plan_explain for pictures", PERM_FORMAT_PICTURE}};
    for (const auto &f : formats)
        sweep(f.name, [&] {
            return bytes_of([&](char *buffer, std::size_t capacity, std::size_t *needed) {
                return perm_plan_explain(made.plan, f.format, buffer, capacity, needed);
            });
        });
}

TEST_CASE("what the library says of itself and of the machine") {
    const MemoryFolder folder;
    const struct {
        const char *name;
        perm_format format;
    } formats[] = {{"perm_info", PERM_FORMAT_TEXT},
                   {"perm_info in JSON", PERM_FORMAT_JSON},
                   {"perm_info of the machine", PERM_FORMAT_MACHINE}};
    for (const auto &f : formats)
        sweep(f.name, [&] {
            return bytes_of([&](char *buffer, std::size_t capacity, std::size_t *needed) {
                return perm_info(f.format, buffer, capacity, needed);
            });
        });
    sweep("perm_cache_describe", [&] {
        return bytes_of([&](char *buffer, std::size_t capacity, std::size_t *needed) {
            return perm_cache_describe(folder.path().c_str(), PERM_FORMAT_JSON, buffer, capacity, needed);
        });
    });
}

TEST_CASE("a plan for a machine that is told of") {
    const Matrix a = matrix(Kind::doubles, 9, 2);
    const perm_csr given = csr(a, Kind::doubles);
    static char machine[1 << 16];
    std::size_t needed = 0;
    REQUIRE(perm_info(PERM_FORMAT_MACHINE, machine, sizeof machine, &needed) == PERM_OK);
    perm_opts opts = options("double");
    opts.machine = machine;
    sweep("perm_plan_create for a machine", [&] { return Outcome{Plan(given, opts).status, {}}; });
}

TEST_CASE("periodic matrices: made, executed, explained and what they grow by") {
    const std::int64_t row_ptr[] = {0, 4, 7}, col[] = {0, 2, 3, 5, 1, 2, 4}, values[] = {1, 2, 1, 1, 1, 3, 1};
    perm_csr cell = PERM_CSR_INIT;
    cell.n_rows = 2;
    cell.n_cols = 6;
    cell.nnz = 7;
    cell.row_ptr = row_ptr;
    cell.col_idx = col;
    cell.values = values;
    cell.value_type = PERM_VALUE_I64;
    const perm_opts opts = options(nullptr);
    sweep("perm_periodic_lattice", [&] {
        perm_csr named = PERM_CSR_INIT;
        std::int64_t starts[4], columns[16], ones[16];
        perm_status status = failing::within(
            [&] { return perm_periodic_lattice("grid:3x2", &named, nullptr, nullptr, nullptr); });
        if (status == PERM_OK) {
            REQUIRE((named.n_rows == 3 && named.nnz == 13));
            status = failing::within(
                [&] { return perm_periodic_lattice("grid:3x2", &named, starts, columns, ones); });
        }
        return Outcome{status, {}};
    });
    for (const int joined : {0, 1}) {
        perm_periodic a = PERM_PERIODIC_INIT;
        a.cell = &cell;
        a.joined = joined;
        perm_periodic_plan *plan = nullptr;
        REQUIRE(perm_periodic_create(&a, &opts, &plan) == PERM_OK);
        sweep("perm_periodic_create", [&] {
            perm_periodic_plan *fresh = nullptr;
            const perm_status status =
                failing::within([&] { return perm_periodic_create(&a, &opts, &fresh); });
            perm_periodic_destroy(fresh);
            return Outcome{status, {}};
        });
        sweep("perm_periodic_execute", [&] {
            perm_result result = PERM_RESULT_INIT;
            return told(failing::within([&] { return perm_periodic_execute(plan, 9, &result); }), result);
        });
        sweep("perm_periodic_growth", [&] {
            return Outcome{
                failing::within([&] { return perm_periodic_growth(plan, nullptr, nullptr, nullptr); }), {}};
        });
        sweep("perm_periodic_explain", [&] {
            return bytes_of([&](char *buffer, std::size_t capacity, std::size_t *needed) {
                return perm_periodic_explain(plan, PERM_FORMAT_JSON, buffer, capacity, needed);
            });
        });
        sweep("perm_periodic_generating_function", [&] {
            perm_periodic_plan *fresh = nullptr; // a plan keeps what was found
            if (const perm_status status = perm_periodic_create(&a, &opts, &fresh); status != PERM_OK)
                return Outcome{status, {}};
            const Outcome outcome = bytes_of([&](char *buffer, std::size_t capacity, std::size_t *needed) {
                return perm_periodic_generating_function(fresh, PERM_FORMAT_TEXT, buffer, capacity, needed);
            });
            perm_periodic_destroy(fresh);
            return outcome;
        });
        perm_periodic_destroy(plan);
    }
}

TEST_CASE("tasks, made, saved, loaded and run") {
    const Matrix a = matrix(Kind::doubles, 6, 6);
    const perm_csr given = csr(a, Kind::doubles);
    const perm_opts opts = options("double", "tree"), plain = options(nullptr);
    const Plan made(given, opts);
    const auto check_all = [&](const std::string &name, const auto &make) {
        sweep("perm_task_" + name, [&] {
            perm_task *task = nullptr;
            const perm_status status = failing::within([&] { return make(&task); });
            perm_task_destroy(task);
            return Outcome{status, {}};
        });
        perm_task *task = nullptr;
        REQUIRE(make(&task) == PERM_OK);
        std::size_t size = 0;
        REQUIRE(perm_task_save(task, nullptr, 0, &size) == PERM_OK);
        std::string bytes(size, ' ');
        sweep("perm_task_save, " + name, [&] {
            return Outcome{failing::within([&] { return perm_task_save(task, bytes.data(), size, nullptr); }),
                           {}};
        });
        sweep("perm_task_load, " + name, [&] {
            perm_task *other = nullptr;
            const perm_status status =
                failing::within([&] { return perm_task_load(bytes.data(), size, &plain, &other); });
            perm_task_destroy(other);
            return Outcome{status, {}};
        });
        perm_answer answer = PERM_ANSWER_INIT;
        REQUIRE(perm_task_room(task, &answer) == PERM_OK);
        perm_partial partial = PERM_PARTIAL_INIT;
        sweep("perm_task_run_shard, " + name, [&] {
            perm_partial_clear(&partial);
            return Outcome{failing::within([&] { return perm_task_run_shard(task, 0, &partial); }), {}};
        });
        perm_partial_clear(&partial);
        std::vector<perm_result> all(static_cast<std::size_t>(answer.count), perm_result PERM_RESULT_INIT);
        std::vector<double> numbers(static_cast<std::size_t>(answer.numbers_count));
        std::vector<std::int64_t> columns(static_cast<std::size_t>(answer.columns_count));
        perm_estimated estimate = PERM_ESTIMATED_INIT;
        answer.results = all.data();
        answer.numbers = numbers.data();
        answer.columns = columns.data();
        answer.estimate = &estimate;
        const auto sweep_answer = [&](const std::string &call, const auto &answered) {
            sweep(call + ", " + name, [&] {
                const perm_status status = failing::within([&] { return answered(&answer); });
                for (perm_result &result : all) perm_result_clear(&result);
                return Outcome{status, {}};
            });
        };
        sweep_answer("perm_task_run", [&](perm_answer *to) { return perm_task_run(task, to); });
        std::int64_t count = 0;
        REQUIRE(perm_task_shards(task, &count, nullptr, nullptr) == PERM_OK);
        std::vector<perm_partial> partials(static_cast<std::size_t>(count), PERM_PARTIAL_INIT);
        for (std::int64_t k = 0; k < count; ++k)
            REQUIRE(perm_task_run_shard(task, k, &partials[static_cast<std::size_t>(k)]) == PERM_OK);
        sweep_answer("perm_task_combine",
                     [&](perm_answer *to) { return perm_task_combine(task, partials.data(), count, to); });
        for (perm_partial &one : partials) perm_partial_clear(&one);
        perm_task_destroy(task);
    };
    check_all("plan", [&](perm_task **task) { return perm_task_plan(made.plan, a.doubles.data(), task); });
    check_all("estimate",
              [&](perm_task **task) { return perm_task_estimate(&given, &plain, nullptr, task); });
    check_all("matchings", [&](perm_task **task) { return perm_task_matchings(&given, &plain, task); });
    std::vector<double> positive = a.doubles;
    for (double &x : positive) x = std::fabs(x);
    perm_csr nonnegative = given;
    nonnegative.values = positive.data();
    check_all("samples",
              [&](perm_task **task) { return perm_task_samples(&nonnegative, &plain, 3, 1, task); });
    const perm_boson experiment = three_photons();
    check_all("photons",
              [&](perm_task **task) { return perm_task_photons(&experiment, &plain, 4, 1, task); });
    check_all("batch",
              [&](perm_task **task) { return perm_task_batch(made.plan, a.doubles.data(), 0, 3, task); });
    const Plan of_frontier(given, plain);
    check_all("gradient",
              [&](perm_task **task) { return perm_task_gradient(of_frontier.plan, a.doubles.data(), task); });
    perm_dense dense = PERM_DENSE_INIT;
    dense.n_rows = 4;
    dense.n_cols = 3;
    dense.values = a.doubles.data();
    check_all("minors", [&](perm_task **task) { return perm_task_minors(&dense, &plain, task); });
    const std::int64_t row_ptr[] = {0, 3}, col[] = {0, 1, 2};
    perm_csr cell = PERM_CSR_INIT;
    cell.n_rows = 1;
    cell.n_cols = cell.nnz = 3;
    cell.row_ptr = row_ptr;
    cell.col_idx = col;
    cell.value_type = PERM_VALUE_PATTERN;
    const perm::Periodic ladder(cell, false, plain);
    check_all("periodic", [&](perm_task **task) { return perm_task_periodic(ladder.raw(), 200, 2, task); });
}

TEST_CASE("a call with a checkpoint") {
    const MemoryFolder folder;
    const std::string file = folder.path() + "/checkpoint";
    const Matrix a = matrix(Kind::doubles, 9, 9);
    const perm_csr given = csr(a, Kind::doubles);
    perm_opts opts = options("double", "tree");
    opts.checkpoint = file.c_str();
    sweep("perm_compute with a checkpoint", [&] {
        perm_result result = PERM_RESULT_INIT;
        return told(failing::within([&] { return perm_compute(&given, &opts, &result); }), result);
    });
    sweep("perm_checkpoint_describe", [&] {
        return bytes_of([&](char *buffer, std::size_t capacity, std::size_t *needed) {
            return perm_checkpoint_describe(file.c_str(), PERM_FORMAT_TEXT, buffer, capacity, needed);
        });
    });
    sweep("perm_checkpoint_describe in JSON", [&] {
        return bytes_of([&](char *buffer, std::size_t capacity, std::size_t *needed) {
            return perm_checkpoint_describe(file.c_str(), PERM_FORMAT_JSON, buffer, capacity, needed);
        });
    });
    std::printf("%d calls, %d with an allocation that failed, %d of them refused\n", calls, failures,
                refused);
    CHECK(refused > 0);
}
