#include "bench/gray_engines.hpp"

#include "bench/decompositions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

namespace {

struct Measured {
    double seconds = 0; // the median
    double value = 0;
};

perm_opts options_of(const std::string &engine, const GraySettings &settings) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = engine.c_str();
    opts.without = settings.without.c_str();
    opts.time_limit_seconds = settings.time_limit;
    return opts;
}

std::optional<Measured> print_engine(const std::string &matrix, const perm::Csr &a, const std::string &name,
                                     const GraySettings &settings) {
    fmt::print("{:<12} {:<13} ", matrix, name);
    std::fflush(stdout);
    const std::size_t slash = name.find('/');
    const std::string engine = name.substr(0, slash);
    perm_opts opts = options_of(engine, settings);
    const char *variant = slash == name.npos ? nullptr : name.c_str() + slash + 1;
    if (variant && (name.ends_with("/gpu") || name.ends_with("/cpu")))
        opts.device = variant;
    else
        opts.chunks = variant;
    try {
        std::vector<double> seconds, loading;
        perm::Result result;
        int compiled = 0;
        for (int run = 0; run < settings.runs; ++run) {
            result = perm::compute(a, opts);
            seconds.push_back(result->seconds_run - result->seconds_compile);
            loading.push_back(result->seconds_compile);
            compiled += result->kernels_compiled;
        }
        const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
        fmt::print("{:>9.3g} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f}{} {:>9.1f} {:>8.1e}  {}\n", result->subsets,
                   median(seconds), *least, *most, loading.front(), compiled > 0 ? "c" : " ",
                   loading.size() > 1 ? loading[1] * 1e6 : std::nan(""), result->rel_error_bound,
                   result.text());
        return Measured{median(seconds), result->re};
    } catch (const perm::Error &error) {
        fmt::print("{}\n", error.what());
        return std::nullopt;
    }
}

} // namespace

void print_gray_engines(const std::vector<Matrix> &matrices, const GraySettings &settings) {
    fmt::print("{:<12} {:<13} {:>9} {:>9} {:>9} {:>9} {:>10} {:>9} {:>8}  {}\n", "matrix", "engine",
               "subsets", "kernels s", "least", "most", "first load", "next us", "bound", "permanent");
    std::vector<std::vector<double>> ratios(settings.engines.size());
    for (const Matrix &matrix : matrices) {
        const perm::Csr a = matrix.load();
        std::optional<Measured> first;
        double apart = 0;
        for (std::size_t e = 0; e < settings.engines.size(); ++e) {
            const std::optional<Measured> one = print_engine(matrix.name, a, settings.engines[e], settings);
            if (!one) continue;
            if (!first) first = one;
            ratios[e].push_back(one->seconds / first->seconds);
            apart = std::max(apart, std::fabs(one->value / first->value - 1));
        }
        fmt::print("{:<12} answers apart by {:.1e}\n", matrix.name, apart);
        std::fflush(stdout);
    }
    for (std::size_t e = 1; e < settings.engines.size(); ++e) {
        if (ratios[e].empty()) continue;
        double logs = 0;
        for (const double ratio : ratios[e]) logs += std::log(ratio);
        const auto count = static_cast<double>(ratios[e].size());
        fmt::print("{} takes {:.2f} times as long as {} (geometric mean of {})\n", settings.engines[e],
                   std::exp(logs / count), settings.engines.front(), ratios[e].size());
    }
    fmt::print("c: compiled in this run, else loaded from disk; next: the second call, from memory\n");
}
