// Marginals of gates at random, from the call to the answer: seconds of the first call of the process, which
// may start a GPU, and of those after it.
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
    std::int64_t rows = 20, cols = 60;
    double density = 1;
    std::vector<std::string> devices{"auto"};
    int threads = 0, runs = 5;
    std::uint64_t seed = 1;
};

struct Gates {
    std::vector<std::int64_t> row_ptr{0}, col;
    std::vector<double> values, row_weights, col_weights;
    perm_csr csr = PERM_CSR_INIT;

    Gates(const Settings &settings, perm::families::Random &random)
        : row_weights(static_cast<std::size_t>(settings.rows), 0.1),
          col_weights(static_cast<std::size_t>(settings.cols), 1.0) {
        for (std::int64_t i = 0; i < settings.rows; ++i) {
            for (std::int64_t j = 0; j < settings.cols; ++j)
                if (random.uniform() < settings.density) {
                    col.push_back(j);
                    values.push_back(1 - random.uniform());
                }
            row_ptr.push_back(static_cast<std::int64_t>(col.size()));
        }
        csr.n_rows = settings.rows;
        csr.n_cols = settings.cols;
        csr.nnz = static_cast<std::int64_t>(col.size());
        csr.row_ptr = row_ptr.data();
        csr.col_idx = col.data();
        csr.values = values.data();
        csr.value_type = PERM_VALUE_F64;
        csr.row_unmatched = row_weights.data();
        csr.col_unmatched = col_weights.data();
    }
    Gates(const Gates &) = delete;
};

void measure(const Settings &settings, const std::string &device) {
    perm::families::Random random(settings.seed);
    const Gates gates(settings, random);
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = device.c_str();
    opts.threads = settings.threads;
    std::vector<double> marginals(gates.values.size() + gates.row_weights.size() + gates.col_weights.size()),
        bounds(marginals.size()), seconds;
    perm_result result = PERM_RESULT_INIT;
    for (int run = 0; run < settings.runs; ++run) {
        perm_result_clear(&result);
        const auto begin = std::chrono::steady_clock::now();
        if (perm_marginals(&gates.csr, &opts, marginals.data(), bounds.data(), &result) != PERM_OK)
            throw std::runtime_error(perm_last_error());
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    const double first = seconds.front();
    if (seconds.size() > 1) seconds.erase(seconds.begin());
    std::sort(seconds.begin(), seconds.end());
    fmt::print(
        "{} x {} of density {}, device {}: first {:.4f}, then {:.4f} (least {:.4f}) s, on the {}, {:.3g} "
        "bytes, value {:a}\n",
        settings.rows, settings.cols, settings.density, device, first, seconds[seconds.size() / 2],
        seconds.front(), result.device, static_cast<double>(result.peak_bytes), result.re);
    perm_result_clear(&result);
}

} // namespace

int main(int argc, char **argv) {
    Settings settings;
    CLI::App app("times of marginals of gates at random");
    app.add_option("--rows", settings.rows, "tracks");
    app.add_option("--cols", settings.cols, "detections");
    app.add_option("--density", settings.density, "share of the pairs that are there");
    app.add_option("--device", settings.devices, "auto, cpu, gpu: one after the other");
    app.add_option("--threads", settings.threads, "0: all");
    app.add_option("--runs", settings.runs, "calls")->check(CLI::PositiveNumber);
    app.add_option("--seed", settings.seed, "of the gates");
    CLI11_PARSE(app, argc, argv);
    try {
        for (const std::string &device : settings.devices) measure(settings, device);
    } catch (const std::exception &error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
