// perm_record - computes many small matrices in every way that the library has, and prints the bits of all
// results: two builds that print the same compute the same.
#include "bench/record/record.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <exception>

PlanOf plan_of(const Sample &sample, const perm_opts &opts) {
    const GivenSample given(sample);
    const perm_csr a = given.csr();
    perm_plan *plan = nullptr;
    perm::check(perm_plan_create(&a, &opts, &plan));
    return {plan, &perm_plan_destroy};
}

std::string result_text(const perm_result &r) {
    return fmt::format(
        "re={} im={} mantissa={},{} exp2={} rel={} abs={} exact={} met={} engine={} device={} n={} nnz={} "
        "transposed={} subsets={} states={} peak={} operations={} blocks={},{} slices={} text={}",
        bits_of(r.re), bits_of(r.im), bits_of(r.mantissa_re), bits_of(r.mantissa_im), r.exp2,
        bits_of(r.rel_error_bound), bits_of(r.abs_error_bound), r.exact, r.tolerance_met, r.engine, r.device,
        r.n, r.nnz, r.transposed, r.subsets, r.states, r.peak_states, r.operations, r.blocks,
        r.blocks_computed, r.slices, r.text ? quoted(r.text) : "none");
}

std::string computed(const Sample &sample, const perm_opts &opts) {
    const perm::Result result = perm::compute(GivenSample(sample).csr(), opts);
    return result_text(*result.operator->());
}

std::string executed(const perm_plan *plan, const void *values) {
    perm::Result result;
    perm::check(perm_plan_execute(plan, values, result.raw()));
    return result_text(*result.raw());
}

std::string saved(const perm_plan *plan) {
    std::size_t size = 0;
    perm::check(perm_plan_save(plan, nullptr, 0, &size));
    std::string bytes(size, '\0');
    perm::check(perm_plan_save(plan, bytes.data(), bytes.size(), nullptr));
    return bytes;
}

std::string numbers_text(const std::vector<double> &numbers) {
    return fmt::format("{}:{}:{}", numbers.size(), digest_of(numbers),
                       numbers.empty() ? "none" : bits_of(numbers.back()));
}

std::string numbers_text(const std::vector<std::int64_t> &numbers) {
    return fmt::format("{}:{}:{}", numbers.size(), digest_of(numbers), numbers.empty() ? 0 : numbers.back());
}

std::string failure_text(const perm::Error &error) {
    return fmt::format("status={} error={}", static_cast<int>(error.status()), quoted(error.what()));
}

perm_opts Recorder::options(const char *engine, const char *precision) const {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = engine;
    opts.precision = precision;
    opts.device = "cpu";
    opts.threads = threads_;
    opts.memory_limit_bytes = std::int64_t{1} << 30;
    opts.cache_dir = "";
    return opts;
}

void Recorder::attempt(const std::string &name, const std::function<std::string()> &work) {
    if (!lines_.wants(name)) return;
    std::string text;
    try {
        text = "status=0 " + work();
    } catch (const perm::Error &error) {
        text = failure_text(error);
    }
    lines_.add(name, text);
}

void Recorder::attempt_each(const std::string &name, const std::function<std::vector<perm::Result>()> &work) {
    if (!lines_.wants(name)) return;
    try {
        std::size_t k = 0;
        for (const perm::Result &result : work())
            lines_.add(fmt::format("{}/{}", name, k++), "status=0 " + result_text(*result.operator->()));
    } catch (const perm::Error &error) {
        lines_.add(name, failure_text(error));
    }
}

void Recorder::attempt_text(const std::string &name, const std::function<std::string()> &work) {
    if (!lines_.wants(name)) return;
    try {
        lines_.add_text(name, work());
    } catch (const perm::Error &error) {
        lines_.add(name, failure_text(error));
    }
}

int main(int argc, char **argv) {
    CLI::App app(
        "The bits of many small permanents, computed in every way: for diff, of two builds' outputs");
    std::int32_t threads = 1;
    std::string only, folder;
    app.add_option("--threads", threads, "threads, of which no bit depends")->capture_default_str();
    app.add_option("--only", only, "lines whose names begin so");
    app.add_option("--texts", folder, "a folder for the texts that are told by their digests");
    CLI11_PARSE(app, argc, argv);
    try {
        RecordLines lines(only, folder);
        Recorder to(lines, threads);
        for (const auto group : {record_engines, record_shapes, record_options, record_plans, record_shards,
                                 record_dense, record_matchings, record_drawn, record_periodic,
                                 record_explained, record_sources, record_refusals})
            group(to);
        fmt::print(stderr, "{} lines\n", lines.count());
    } catch (const std::exception &error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
    return 0;
}
