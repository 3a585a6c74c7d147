// Batches of one pattern on the CPU and on the GPU: microseconds a matrix, and whether the bits agree.
#include "bench/families.hpp"

#include <CLI/CLI.hpp>
#include <perm.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <fmt/core.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Settings {
    std::int64_t n = 16, matrices = 100000;
    double density = 0.5;
    int runs = 7, threads = 0;
    std::uint64_t seed = 1;
};

struct Pattern {
    std::vector<std::int64_t> row_ptr{0}, col;
};

Pattern random_pattern(const Settings &settings) {
    perm::families::Random random(settings.seed);
    Pattern pattern;
    for (std::int64_t i = 0; i < settings.n; ++i) {
        for (std::int64_t j = 0; j < settings.n; ++j)
            if (i == j || random.uniform() < settings.density) pattern.col.push_back(j);
        pattern.row_ptr.push_back(static_cast<std::int64_t>(pattern.col.size()));
    }
    return pattern;
}

void require(perm_status status) {
    if (status != PERM_OK) throw std::runtime_error(perm_last_error());
}

class Results {
  public:
    explicit Results(std::int64_t count) : all_(static_cast<std::size_t>(count), PERM_RESULT_INIT) {}
    ~Results() {
        for (perm_result &result : all_) perm_result_clear(&result);
    }
    Results(const Results &) = delete;
    Results &operator=(const Results &) = delete;
    perm_result *data() { return all_.data(); }
    const std::vector<perm_result> &all() const { return all_; }

  private:
    std::vector<perm_result> all_;
};

using PlanOf = std::unique_ptr<perm_plan, decltype(&perm_plan_destroy)>;

PlanOf plan_of(const Pattern &pattern, const Settings &settings, const char *device) {
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = settings.n;
    a.nnz = static_cast<std::int64_t>(pattern.col.size());
    a.row_ptr = pattern.row_ptr.data();
    a.col_idx = pattern.col.data();
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = device;
    opts.threads = settings.threads;
    perm_plan *plan = nullptr;
    require(perm_plan_create(&a, &opts, &plan));
    return {plan, &perm_plan_destroy};
}

void measure(const Pattern &pattern, const std::vector<double> &values, const Settings &settings,
             const char *device, const char *label, Results &results) {
    using Clock = std::chrono::steady_clock;
    const auto nnz = static_cast<std::int64_t>(pattern.col.size());
    const PlanOf plan = plan_of(pattern, settings, device);
    std::vector<double> times; // the first: with kernels and staging memory in the making
    for (int run = 0; run <= settings.runs; ++run) {
        const auto begin = Clock::now();
        require(perm_plan_execute_batch(plan.get(), values.data(), nnz, settings.matrices, results.data()));
        times.push_back(std::chrono::duration<double>(Clock::now() - begin).count() * 1e6 /
                        static_cast<double>(settings.matrices));
    }
    std::sort(times.begin() + 1, times.end());
    const auto there = std::count_if(results.all().begin(), results.all().end(),
                                     [&](const perm_result &r) { return std::string(r.device) == device; });
    fmt::print("{:<8} {:<4} {:8.4f} us a matrix ({:.4f} to {:.4f}, first call {:.4f}), {} of {} on it\n",
               label, device, times[(times.size() + 1) / 2], times[1], times.back(), times[0], there,
               settings.matrices);
}

bool same(double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); }

bool same(const perm_result &x, const perm_result &y) {
    return same(x.re, y.re) && same(x.mantissa_re, y.mantissa_re) && x.exp2 == y.exp2 && x.exact == y.exact &&
           same(x.rel_error_bound, y.rel_error_bound) && same(x.abs_error_bound, y.abs_error_bound);
}

void compare(const Pattern &pattern, const Settings &settings, bool is_signed) {
    perm::families::Random random(settings.seed + 1);
    std::vector<double> values(pattern.col.size() * static_cast<std::size_t>(settings.matrices));
    for (double &x : values) x = is_signed ? 2 * random.uniform() - 1 : random.uniform();
    const char *const label = is_signed ? "[-1, 1]" : "[0, 1]";
    Results on_cpu(settings.matrices), on_gpu(settings.matrices);
    measure(pattern, values, settings, "cpu", label, on_cpu);
    measure(pattern, values, settings, "gpu", label, on_gpu);
    std::int64_t differ = 0;
    for (std::size_t k = 0; k < on_cpu.all().size(); ++k) differ += !same(on_cpu.all()[k], on_gpu.all()[k]);
    fmt::print("{:<8} bits differ: {} of {}\n", label, differ, settings.matrices);
}

} // namespace

int main(int argc, char **argv) {
    CLI::App app("Batches of random matrices of one pattern, on the CPU and on the GPU");
    Settings settings;
    app.add_option("-n", settings.n, "order")->capture_default_str();
    app.add_option("--density", settings.density, "share of entries beside the diagonal")
        ->capture_default_str();
    app.add_option("--matrices", settings.matrices, "in a batch")->capture_default_str();
    app.add_option("--runs", settings.runs, "runs to take the median of")->capture_default_str();
    app.add_option("--threads", settings.threads, "threads, 0: one for each core")->capture_default_str();
    app.add_option("--seed", settings.seed, "of pattern and values")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try {
        const Pattern pattern = random_pattern(settings);
        fmt::print("n = {}, {} entries, {} matrices, median of {} calls\n", settings.n, pattern.col.size(),
                   settings.matrices, settings.runs);
        for (const bool is_signed : {false, true}) compare(pattern, settings, is_signed);
    } catch (const std::exception &error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
    return 0;
}
