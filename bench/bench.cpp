// perm_bench - what permanents cost: seconds, states or subsets, operations, bytes and error bounds, beside
// what the plan predicted. JSON on stdout, or a table.
#include "bench/decompositions.hpp"
#include "bench/gray_engines.hpp"
#include "bench/named_matrix.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <perm.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;

#ifdef __clang__
const char *const compiler = __VERSION__;
#else
const char *const compiler = "gcc " __VERSION__;
#endif

struct Settings {
    std::vector<std::string> matrices;
    std::vector<std::string> engines{"auto"};
    int runs = 5;
    int threads = 0;
    std::int64_t memory = 0;
    double time_limit = 600.0;
    std::string without, decompose;
    bool all = false;
    bool table = false, decompositions = false, gray = false;
};

std::vector<std::string> default_matrices(bool all) {
    std::vector<std::string> names{"bcspwr02",    "curtis54",  "d_ss",       "mycielskian6", "mesh1e1",
                                   "grid8x8",     "grid12x12", "grid4x4x4",  "aztec8",       "hypercube6",
                                   "banded200_4", "er24_30",   "signed24_30"};
    if (all) names.insert(names.begin() + 5, "bcsstk01");
    return names;
}

// ---------------------------------------------------------------- measuring

// a / b, or null where that says nothing.
Json ratio(double a, double b) { return b > 0.0 ? Json(a / b) : Json(nullptr); }

perm_opts options(const Settings &settings, const std::string &engine) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = engine.c_str();
    opts.threads = settings.threads;
    opts.memory_limit_bytes = settings.memory;
    opts.time_limit_seconds = settings.time_limit;
    opts.without = settings.without.c_str();
    opts.decompose = settings.decompose.empty() ? nullptr : settings.decompose.c_str();
    return opts;
}

// The seconds of one matrix by one engine, several times from file to answer. `total` is the whole: reading,
// checking, planning, running; `first` is the first run's total, with the start of the threads in it.
Json measure_runs(const Matrix &matrix, const Settings &settings, const perm_opts &opts) {
    const perm::Csr known = matrix.load();
    const Json plan = Json::parse(perm::Plan(known, opts).explain(PERM_FORMAT_JSON));

    std::vector<double> total, plan_seconds, run_seconds;
    perm::Result result;
    for (int run = 0; run < settings.runs; ++run) {
        const auto start = std::chrono::steady_clock::now();
        result = perm::compute(matrix.load(), opts);
        total.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        plan_seconds.push_back(result->seconds_plan);
        run_seconds.push_back(result->seconds_run);
    }

    const double predicted = plan.value("predicted_seconds", 0.0);
    const std::string form = plan.value("form", "");
    const double bytes_per_state = plan.value("bytes_per_state", 0.0);
    // The dense form's table holds more than the states that can be reached: the ratio says nothing of it.
    const double states_bytes = form == "sparse" ? result->peak_states * bytes_per_state : 0.0;
    return {
        {"n", result->n},
        {"nnz", result->nnz},
        {"engine", result->engine},
        {"form", form},
        {"device", result->device},
        {"threads", result->threads},
        {"transposed", result->transposed != 0},
        {"text", result.text()},
        {"exact", result->exact != 0},
        {"rel_error_bound", result->rel_error_bound},
        {"seconds",
         {{"total", median(total)},
          {"first", total.front()},
          {"plan", median(plan_seconds)},
          {"run", median(run_seconds)}}},
        {"predicted_seconds", predicted},
        {"run_to_predicted", ratio(median(run_seconds), predicted)},
        {"subsets", result->subsets},
        {"states", result->states},
        {"peak_states", result->peak_states},
        {"operations", result->operations},
        {"peak_bytes", result->peak_bytes},
        {"bytes_per_state", bytes_per_state},
        {"peak_bytes_to_peak_states", ratio(static_cast<double>(result->peak_bytes), states_bytes)},
    };
}

// A refusal, or any other error, is a result too.
Json measure(const Matrix &matrix, const Settings &settings, const std::string &engine) {
    Json record{{"matrix", matrix.name}, {"source", matrix.source}, {"engine_asked", engine}};
    try {
        const Json measured = measure_runs(matrix, settings, options(settings, engine));
        record["status"] = "ok";
        record.update(measured);
    } catch (const perm::Error &error) {
        record["status"] = perm_status_text(error.status());
        record["message"] = error.what();
    } catch (const std::exception &error) {
        record["status"] = "error";
        record["message"] = error.what();
    }
    return record;
}

Json header(const Settings &settings) {
    char date[sizeof "2000-01-01T00:00:00Z"];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%FT%TZ", std::gmtime(&now));
    return {
        {"version", perm_version()},
        {"compiler", compiler},
        {"date", date},
        {"machine", Json::parse(perm::info(PERM_FORMAT_JSON))},
        {"runs", settings.runs},
        {"threads_asked", settings.threads},
        {"memory_limit_bytes", settings.memory},
        {"time_limit_seconds", settings.time_limit},
    };
}

// ---------------------------------------------------------------- the table

void print_table_head() {
    fmt::print("{:<14} {:>4} {:>5} {:<8} {:>9} {:>9} {:>9} {:>6} {:>9} {:>7} {:>6} {:>8}  {}\n", "matrix",
               "n", "nnz", "engine", "total s", "plan s", "run s", "/pred", "states", "peak MB", "/state",
               "error", "permanent");
}

std::string short_number(const Json &value, const char *format) {
    return value.is_number() ? fmt::format(fmt::runtime(format), value.get<double>()) : "-";
}

void print_table_row(const Json &r) {
    if (r["status"] != "ok") {
        fmt::print("{:<14} {:>4} {:>5} {:<8} {}: {}\n", r["matrix"].get<std::string>(), "", "",
                   r["engine_asked"].get<std::string>(), r["status"].get<std::string>(),
                   r["message"].get<std::string>());
        return;
    }
    const Json &seconds = r["seconds"];
    const double count = std::max(r["states"].get<double>(), r["subsets"].get<double>());
    fmt::print(
        "{:<14} {:>4} {:>5} {:<8} {:>9.4f} {:>9.4f} {:>9.4f} {:>6} {:>9.3g} {:>7.1f} {:>6} {:>8}  {}\n",
        r["matrix"].get<std::string>(), r["n"].get<std::int64_t>(), r["nnz"].get<std::int64_t>(),
        r["engine"].get<std::string>(), seconds["total"].get<double>(), seconds["plan"].get<double>(),
        seconds["run"].get<double>(), short_number(r["run_to_predicted"], "{:.2f}"), count,
        r["peak_bytes"].get<double>() / 1e6, short_number(r["peak_bytes_to_peak_states"], "{:.2f}"),
        short_number(r["rel_error_bound"], "{:.1e}"), r["text"].get<std::string>());
}

} // namespace

int main(int argc, char **argv) {
    Settings settings;
    CLI::App app{"What permanents cost: JSON on stdout, or a table."};
    app.add_option(
        "matrices", settings.matrices,
        "Matrix Market files; names in the folder PERM_MATRIX_DIR; or members of families: grid8x8,\n"
        "grid4x4x4, hypercube6, mycielskian6, aztec8, ones12, constant62_91, banded200_4, er40_30,\n"
        "signed24_30, power118, process67, mesh10x10, mesh5x5x5, mesh9p8x8, blocks20_6_30,\n"
        "chain100_5_30, hanging400_24, repeated30_4_5, proportional30_4_5\n"
        "(default: a set of each)");
    app.add_option("--engine", settings.engines, "engine, may be repeated")
        ->capture_default_str()
        ->allow_extra_args(false);
    app.add_option("--runs", settings.runs, "runs to take the median of")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000000));
    app.add_option("--threads", settings.threads, "threads, 0: one for each core");
    app.add_option("--memory", settings.memory, "memory limit in bytes, 0: three quarters of the machine's");
    app.add_option("--time-limit", settings.time_limit, "seconds that one run may take")
        ->capture_default_str();
    app.add_option("--without", settings.without, "reductions to leave out, as of perm compute");
    app.add_option("--decompose", settings.decompose, "auto or paper");
    app.add_flag(
        "--decompositions", settings.decompositions,
        "a table of what each decomposition makes of each matrix, in the form of SUperman's Table 5");
    app.add_flag("--gray", settings.gray,
                 "a table of the engines that sum over subsets on a GPU (hybrid, purereg, dense, shared and\n"
                 "tree/gpu if none is named), in the form of the code-generation paper's Table III");
    app.add_flag("--all", settings.all, "with bcsstk01: gigabytes and minutes");
    app.add_flag("--table,!--json", settings.table,
                 "a table for people (--json, the default: one JSON object)");
    CLI11_PARSE(app, argc, argv);

    const bool chosen = !settings.matrices.empty();
    std::vector<Matrix> matrices;
    for (const std::string &name : chosen ? settings.matrices : default_matrices(settings.all)) {
        if (const auto matrix = find_matrix(name)) {
            matrices.push_back(*matrix);
        } else {
            fmt::print(stderr, "perm_bench: '{}' is no file, not in PERM_MATRIX_DIR, and of no family{}\n",
                       name, chosen ? "" : ": left out");
            if (chosen) return 2;
        }
    }

    if (settings.decompositions) {
        print_decompositions(matrices, {settings.runs, settings.threads, settings.time_limit});
        return EXIT_SUCCESS;
    }

    if (settings.gray) {
        if (settings.engines == std::vector<std::string>{"auto"})
            settings.engines = {"hybrid", "purereg", "dense", "shared", "tree/gpu"};
        print_gray_engines(matrices,
                           {settings.engines, settings.runs, settings.time_limit, settings.without});
        return EXIT_SUCCESS;
    }

    Json report = header(settings);
    report["measurements"] = Json::array();
    if (settings.table) print_table_head();
    for (const Matrix &matrix : matrices) {
        for (const std::string &engine : settings.engines) {
            report["measurements"].push_back(measure(matrix, settings, engine));
            if (settings.table) print_table_row(report["measurements"].back());
            std::fflush(stdout);
        }
    }
    if (!settings.table) fmt::print("{}\n", report.dump(2));
    return EXIT_SUCCESS;
}
