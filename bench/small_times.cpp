// One call of perm_compute, and one of perm_permanents, for a small dense matrix of each kind, from C:
// microseconds, and which engine answered.
#include "bench/families.hpp"

#include <CLI/CLI.hpp>
#include <perm.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fmt/core.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Settings {
    std::vector<std::int64_t> orders{4, 6, 8, 12, 16, 20};
    int runs = 5, threads = 0;
    double seconds = 0.2; // of a run
    std::uint64_t seed = 1;
};

struct Dense {
    std::vector<std::int64_t> row_ptr{0}, col, whole;
    std::vector<double> real;
    perm_csr csr = PERM_CSR_INIT;
};

// Entries that have all bits of a double, or one digit.
Dense random_dense(std::int64_t n, perm_value_type type, perm::families::Random &random) {
    Dense a;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) a.col.push_back(j);
        a.row_ptr.push_back((i + 1) * n);
    }
    for (std::int64_t k = 0; k < n * n * (type == PERM_VALUE_C128 ? 2 : 1); ++k)
        type == PERM_VALUE_I64 ? a.whole.push_back(random.integer(1, 9))
                               : a.real.push_back(random.uniform(-1, 1));
    a.csr.n_rows = a.csr.n_cols = n;
    a.csr.nnz = n * n;
    a.csr.row_ptr = a.row_ptr.data();
    a.csr.col_idx = a.col.data();
    a.csr.value_type = type;
    a.csr.values = type == PERM_VALUE_I64 ? static_cast<const void *>(a.whole.data()) : a.real.data();
    return a;
}

void require(perm_status status) {
    if (status != PERM_OK) throw std::runtime_error(perm_last_error());
}

// Microseconds of a call, sorted.
template <class Call> std::vector<double> times_of(const Settings &settings, const Call &call) {
    const auto seconds_of = [&](int calls) {
        const auto begin = std::chrono::steady_clock::now();
        for (int k = 0; k < calls; ++k) call();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    int calls = 1;
    for (double took = 0; took < settings.seconds / 4 && calls < 1 << 24; calls *= 2)
        took = seconds_of(calls);
    std::vector<double> times;
    for (int run = 0; run < settings.runs; ++run) times.push_back(seconds_of(calls) * 1e6 / calls);
    std::sort(times.begin(), times.end());
    return times;
}

void measure(std::int64_t n, perm_value_type type, const char *name, const Settings &settings) {
    perm::families::Random random(settings.seed);
    const Dense a = random_dense(n, type, random);
    perm_opts opts = PERM_OPTS_INIT;
    opts.threads = settings.threads;
    perm_result result = PERM_RESULT_INIT;
    const std::vector<double> times =
        times_of(settings, [&] { require(perm_compute(&a.csr, &opts, &result)); });
    perm_dense dense = PERM_DENSE_INIT;
    dense.n_rows = dense.n_cols = n;
    dense.values = a.csr.values;
    dense.value_type = type;
    double number[2], bound;
    const std::vector<double> as_numbers =
        times_of(settings, [&] { require(perm_permanents(&dense, &opts, number, &bound)); });
    fmt::print(
        "n = {:<3} {:<8} {:12.4g} us ({:.4g} to {:.4g})  perm_permanents {:.4g} us ({:.4g} to {:.4g})  "
        "{:<9} {} bound {:.1e}\n",
        n, name, times[times.size() / 2], times.front(), times.back(), as_numbers[as_numbers.size() / 2],
        as_numbers.front(), as_numbers.back(), result.engine, result.text, result.rel_error_bound);
    perm_result_clear(&result);
}

} // namespace

int main(int argc, char **argv) {
    CLI::App app("Single calls of perm_compute and perm_permanents for small dense matrices");
    Settings settings;
    app.add_option("-n", settings.orders, "orders")->delimiter(',')->capture_default_str();
    app.add_option("--runs", settings.runs, "runs to take the median of")->capture_default_str();
    app.add_option("--seconds", settings.seconds, "of a run")->capture_default_str();
    app.add_option("--threads", settings.threads, "threads, 0: one for each core")->capture_default_str();
    app.add_option("--seed", settings.seed, "of the entries")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try {
        for (const std::int64_t n : settings.orders) {
            measure(n, PERM_VALUE_F64, "real", settings);
            measure(n, PERM_VALUE_C128, "complex", settings);
            measure(n, PERM_VALUE_I64, "integer", settings);
        }
    } catch (const std::exception &error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
    return 0;
}
