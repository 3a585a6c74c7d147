// What the library refuses, and its words for it.
#include "bench/record/record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

using perm::families::Entries;

namespace {

// A 3 x 3 matrix that is in order: row 1 holds columns 0 and 2.
Sample sample() {
    return samples::real("sample", perm::families::from_dense({{1, 2, 0}, {3, 0, 4}, {0, 5, 6}}));
}

using SpoilMatrix = std::function<void(perm_csr &)>;
using SpoilSample = std::function<void(Sample &)>;
using SpoilOptions = std::function<void(perm_opts &)>;

void bad_csr(Recorder &to, const char *name, const SpoilMatrix &spoil) {
    const Sample good = sample();
    const GivenSample given(good);
    perm_csr a = given.csr();
    spoil(a);
    const perm_opts opts = to.options();
    to.attempt(fmt::format("refused/csr/{}", name), [&] {
        const perm::Result result = perm::compute(a, opts);
        return result_text(*result.operator->());
    });
}

void bad_sample(Recorder &to, const char *name, const SpoilSample &spoil) {
    Sample bad = sample();
    spoil(bad);
    to.compute(fmt::format("refused/matrix/{}", name), bad, to.options());
    to.attempt(fmt::format("refused/matrix/{}/plan", name), [&] {
        const PlanOf plan = plan_of(bad, to.options());
        return std::string("a plan");
    });
}

void bad_option(Recorder &to, const std::string &name, const SpoilOptions &spoil) {
    perm_opts opts = to.options();
    spoil(opts);
    to.compute("refused/option/" + name, sample(), opts);
}

void record_bad_csr(Recorder &to) {
    bad_csr(to, "no_row_ptr", [](perm_csr &a) { a.row_ptr = nullptr; });
    bad_csr(to, "no_col_idx", [](perm_csr &a) { a.col_idx = nullptr; });
    bad_csr(to, "no_values", [](perm_csr &a) { a.values = nullptr; });
    bad_csr(to, "struct_size", [](perm_csr &a) { a.struct_size = 8; });
    bad_csr(to, "index_type", [](perm_csr &a) { a.index_type = 7; });
    bad_csr(to, "value_type", [](perm_csr &a) { a.value_type = -1; });
    bad_csr(to, "negative_n", [](perm_csr &a) { a.n_rows = a.n_cols = -1; });
    bad_csr(to, "negative_nnz", [](perm_csr &a) { a.nnz = -6; });
    bad_csr(to, "more_rows", [](perm_csr &a) { a.n_cols = 2; });
    bad_csr(to, "nnz_too_small", [](perm_csr &a) { a.nnz = 5; });
    bad_csr(to, "pattern_is_fine", [](perm_csr &a) {
        a.value_type = PERM_VALUE_PATTERN;
        a.values = nullptr;
    });
    static const std::int32_t row_ptr[] = {0, 2, 4, 6}, col_idx[] = {0, 1, 0, 2, 1, 2};
    bad_csr(to, "short_indexes_are_fine", [](perm_csr &a) {
        a.index_type = PERM_INDEX_I32;
        a.row_ptr = row_ptr;
        a.col_idx = col_idx;
    });
}

void record_bad_matrices(Recorder &to) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    bad_sample(to, "column_too_large", [](Sample &s) { s.col_idx[3] = 3; });
    bad_sample(to, "column_negative", [](Sample &s) { s.col_idx[3] = -1; });
    bad_sample(to, "twice", [](Sample &s) { s.col_idx[3] = 0; });
    bad_sample(to, "row_ptr_decreases", [](Sample &s) { s.row_ptr = {0, 4, 2, 6}; });
    bad_sample(to, "row_ptr_starts", [](Sample &s) { s.row_ptr = {1, 2, 4, 6}; });
    bad_sample(to, "row_ptr_ends", [](Sample &s) { s.row_ptr = {0, 2, 4, 7}; });
    bad_sample(to, "nan", [nan](Sample &s) { s.doubles[3] = nan; });
    bad_sample(to, "infinity", [](Sample &s) { s.doubles[4] = -INFINITY; });
    bad_sample(to, "row_times", [](Sample &s) { s.row_times = {1, -1, 1}; });
    bad_sample(to, "row_times_too_many", [](Sample &s) { s.row_times = {2, 1, 1}; });
    bad_sample(to, "col_times_huge", [](Sample &s) { s.col_times = {1, std::int64_t{1} << 40, 1}; });
    for (const char *written :
         {"", "x", "1/0", "1e100001", "1 2 3", "0x10", "nan", "inf", "--1", "1e", "1/2/3"})
        bad_sample(to, fmt::format("text_{}", written).c_str(), [written](Sample &s) {
            s.type = PERM_VALUE_TEXT;
            s.texts = {"1", "2", "3", written, "5", "6"};
        });
}

void record_bad_options(Recorder &to) {
    for (const char *engine : {"", "quick", "Ryser", "shared", "dense", "purereg", "hybrid"})
        bad_option(to, fmt::format("engine_{}", engine), [=](perm_opts &o) { o.engine = engine; });
    for (const char *device :
         {"", "abacus", "gpu", "gpu:0", "gpu:0,0", "gpu:", "gpu:all", "gpu:x", "gpu+cpu"})
        bad_option(to, fmt::format("device_{}", device), [=](perm_opts &o) { o.device = device; });
    for (const char *precision :
         {"", "guess", "mpfr", "mpfr:", "mpfr:1", "mpfr:x", "mpfr:2", "mpfr:99999999999"})
        bad_option(to, fmt::format("precision_{}", precision),
                   [=](perm_opts &o) { o.precision = precision; });
    for (const char *without : {"", "DM", "dm;fm", "dm,", ",", "d3", "all,scaling", "none"})
        bad_option(to, fmt::format("without_{}", without), [=](perm_opts &o) { o.without = without; });
    for (const char *decompose : {"", "Paper", "paper", "published"})
        bad_option(to, fmt::format("decompose_{}", decompose),
                   [=](perm_opts &o) { o.decompose = decompose; });
    for (const char *chunks : {"", "ceg", "equal", "odd"})
        bad_option(to, fmt::format("chunks_{}", chunks), [=](perm_opts &o) { o.chunks = chunks; });
}

void record_bad_numbers(Recorder &to) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    bad_option(to, "memory_negative", [](perm_opts &o) { o.memory_limit_bytes = -1; });
    bad_option(to, "cache_negative", [](perm_opts &o) { o.cache_limit_bytes = -1; });
    bad_option(to, "time_negative", [](perm_opts &o) { o.time_limit_seconds = -1; });
    bad_option(to, "time_nan", [nan](perm_opts &o) { o.time_limit_seconds = nan; });
    bad_option(to, "threads_negative", [](perm_opts &o) { o.threads = -1; });
    bad_option(to, "tolerance_negative", [](perm_opts &o) { o.tolerance = -1e-9; });
    bad_option(to, "tolerance_nan", [nan](perm_opts &o) { o.tolerance = nan; });
    bad_option(to, "reserved", [](perm_opts &o) { o.reserved = 1; });
    bad_option(to, "reserved2", [](perm_opts &o) { o.reserved2 = 1; });
    bad_option(to, "gpus_negative", [](perm_opts &o) { o.gpus = -1; });
    bad_option(to, "checkpoint_seconds", [](perm_opts &o) { o.checkpoint_seconds = -1; });
    bad_option(to, "struct_size", [](perm_opts &o) { o.struct_size = 3; });
    bad_option(to, "tree_equal", [](perm_opts &o) {
        o.engine = "tree";
        o.chunks = "equal";
    });
}

// Fine matrices whose answers are out of reach.
void record_limits(Recorder &to) {
    using namespace perm::families;
    const auto limited = [&to](const std::string &name, const Sample &s, const SpoilOptions &set) {
        perm_opts opts = to.options();
        opts.without = "all";
        opts.threads = 1; // of which the time that is told is
        set(opts);
        to.compute("refused/limit/" + name, s, opts);
    };
    const Sample large = samples::real("large", erdos_renyi(62, 0.97, Entries::real, 91)),
                 middle = samples::real("middle", erdos_renyi(17, 0.4, Entries::real, 92)),
                 complex = samples::complex("complex", erdos_renyi(10, 0.5, Entries::real, 93));
    for (const char *engine : {"auto", "ryser", "frontier", "tree"}) {
        limited(fmt::format("time/{}", engine), large, [=](perm_opts &o) { o.engine = engine; });
        for (const char *precision : {"double", "dd", "exact"})
            limited(fmt::format("memory/{}/{}", engine, precision), middle, [=](perm_opts &o) {
                o.engine = engine;
                o.precision = precision;
                o.memory_limit_bytes = 100;
            });
        for (const char *precision : {"kahan", "dq", "dd", "mpfr:60"})
            limited(fmt::format("complex/{}/{}", engine, precision), complex, [=](perm_opts &o) {
                o.engine = engine;
                o.precision = precision;
            });
    }
    limited("cancelled", large, [](perm_opts &o) {
        o.engine = "ryser";
        o.time_limit_seconds = INFINITY;
        o.cancel = [](void *) { return 1; };
    });
}

// Plans from bytes that are none, or with options that they were not made with.
void record_bad_bytes(Recorder &to) {
    const std::string bytes = saved(plan_of(sample(), to.options()).get());
    const auto load = [&](const char *name, const std::string &changed, const SpoilOptions &set) {
        perm_opts machine = PERM_OPTS_INIT;
        set(machine);
        to.attempt(fmt::format("refused/load/{}", name), [&] {
            perm_plan *plan = nullptr;
            perm::check(perm_plan_load(changed.data(), changed.size(), &machine, &plan));
            perm_plan_destroy(plan);
            return std::string("a plan");
        });
    };
    const auto nothing = [](perm_opts &) {};
    std::string damaged = bytes, other = bytes;
    damaged[damaged.size() / 2] ^= 1;
    other[0] ^= 1;
    load("damaged", damaged, nothing);
    load("no_plan", other, nothing);
    load("cut_off", bytes.substr(0, bytes.size() - 3), nothing);
    load("empty", "", nothing);
    load("other_engine", bytes, [](perm_opts &o) { o.engine = "tree"; });
    load("other_precision", bytes, [](perm_opts &o) { o.precision = "dd"; });
    load("other_seed", bytes, [](perm_opts &o) { o.seed = 5; });
}

// Calls with arguments that are missing or too small.
void record_bad_calls(Recorder &to) {
    const Sample good = sample();
    const GivenSample given(good);
    perm_opts opts = to.options();
    opts.threads = 1; // of which an explanation tells
    const PlanOf owner = plan_of(good, opts);
    const perm_plan *plan = owner.get();
    perm_result results[] = {PERM_RESULT_INIT, PERM_RESULT_INIT};
    char buffer[8];
    const auto call = [&](const char *name, const std::function<perm_status()> &work) {
        to.attempt(fmt::format("refused/call/{}", name), [&] {
            perm::check(work());
            return std::string("done");
        });
        for (perm_result &result : results) perm_result_clear(&result);
    };
    const auto batch = [&](std::int64_t stride, std::int64_t count) {
        return perm_plan_execute_batch(plan, given.values(), stride, count, results);
    };
    call("no_values", [&] { return perm_plan_execute(plan, nullptr, results); });
    call("no_plan", [&] { return perm_plan_execute(nullptr, given.values(), results); });
    call("no_result", [&] { return perm_plan_execute(plan, given.values(), nullptr); });
    call("batch_short_stride", [&] { return batch(5, 2); });
    call("batch_negative_count", [&] { return batch(6, -1); });
    call("batch_of_none", [&] { return batch(6, 0); });
    call("gradient_nowhere",
         [&] { return perm_plan_gradient(plan, given.values(), nullptr, nullptr, nullptr); });
    call("arch", [&] { return perm_plan_source(plan, "sm90", nullptr, 0, nullptr); });
    call("short_buffer",
         [&] { return perm_plan_explain(plan, PERM_FORMAT_TEXT, buffer, sizeof buffer, nullptr); });
    call("no_checkpoint",
         [&] { return perm_checkpoint_describe("/nowhere/at/all", PERM_FORMAT_TEXT, nullptr, 0, nullptr); });
}

} // namespace

void record_refusals(Recorder &to) {
    record_bad_csr(to);
    record_bad_matrices(to);
    record_bad_options(to);
    record_bad_numbers(to);
    record_limits(to);
    record_bad_bytes(to);
    record_bad_calls(to);
    for (const int status : {0, 101, 102, 103, 201, 202, 203, 301, 401, 402, 403, 7})
        to.attempt(fmt::format("refused/status/{}", status),
                   [status] { return quoted(perm_status_text(static_cast<perm_status>(status))); });
}
