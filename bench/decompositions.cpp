#include "bench/decompositions.hpp"

#include "capi/command/matrix_file.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

namespace {

struct Way {
    const char *name, *without, *decompose;
};

constexpr Way ways[] = {{"none", "all", "auto"},
                        {"Dulmage-Mendelsohn", "d1,d2,fm,merge", "auto"},
                        {"Forbert-Marx", "matching,dm,merge", "paper"},
                        {"both", "merge", "paper"},
                        {"auto", "", "auto"}};

constexpr double patience = 10; // seconds: what takes longer runs once

perm_opts options_of(const Way &way, const DecompositionSettings &settings) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.threads = settings.threads;
    opts.time_limit_seconds = settings.time_limit;
    opts.without = way.without;
    opts.decompose = way.decompose;
    return opts;
}

// The median of the seconds from a matrix in memory to its permanent.
double seconds_of(const perm::Csr &a, const perm_opts &opts, int runs, std::string &text) {
    std::vector<double> seconds;
    do {
        const auto start = std::chrono::steady_clock::now();
        text = perm::compute(a, opts).text();
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    } while (static_cast<int>(seconds.size()) < runs && seconds.back() < patience);
    return median(seconds);
}

// One line of the table; the seconds, or infinity where there is no answer.
double print_way(const std::string &matrix, const perm::Csr &a, const Way &way,
                 const DecompositionSettings &settings) {
    fmt::print("{:<20} {:<19} ", matrix, way.name);
    std::fflush(stdout);
    const perm_opts opts = options_of(way, settings);
    try {
        const auto plan = nlohmann::json::parse(perm::Plan(a, opts).explain(PERM_FORMAT_JSON));
        const auto number = [&plan](const char *key) { return plan.at(key).get<double>(); };
        fmt::print("{:>7.2f} {:>8.2f} {:>9.0f} ", number("average_n"), number("average_nnz"),
                   number("blocks"));
        if (plan.at("refused").get<bool>()) {
            fmt::print("{:>11} {:>10}  {}\n", "-", "refused", plan.at("refusal").get<std::string>());
            return std::numeric_limits<double>::infinity();
        }
        std::string text;
        const double seconds = seconds_of(a, opts, settings.runs, text);
        fmt::print("{:>11.2g} {:>10.4f}  {}\n", number("predicted_seconds"), seconds, text);
        return seconds;
    } catch (const perm::Error &error) {
        fmt::print("{}\n", perm_status_text(error.status()));
        return std::numeric_limits<double>::infinity();
    }
}

} // namespace

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2.0;
}

void print_decompositions(const std::vector<Matrix> &matrices, const DecompositionSettings &settings) {
    fmt::print("{:<20} {:<19} {:>7} {:>8} {:>9} {:>11} {:>10}  {}\n", "matrix", "reduction", "n", "entries",
               "blocks", "predicted s", "seconds", "permanent");
    double worst = -std::numeric_limits<double>::infinity();
    for (const Matrix &matrix : matrices) {
        const perm::Csr a = perm::without_zeros(matrix.load());
        double best = std::numeric_limits<double>::infinity(), automatic = best;
        for (const Way &way : ways) {
            automatic = print_way(matrix.name, a, way, settings);
            if (&way != std::end(ways) - 1) best = std::min(best, automatic);
        }
        if (automatic == std::numeric_limits<double>::infinity() && best == automatic) continue;
        const double regret = automatic / best - 1;
        worst = std::max(worst, regret);
        fmt::print("{:<20} regret of auto {:+.0f} %\n", matrix.name, 100 * regret);
    }
    fmt::print("largest regret {:+.0f} %\n", 100 * worst);
}
