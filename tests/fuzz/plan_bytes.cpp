// Saved plans with anything behind a right seal: loaded, explained, saved again and executed.
#include "tests/fuzz/inputs.hpp"
#include "tests/fuzz/sealed.hpp"

#include "bench/families.hpp"
#include "lib/base/error.hpp"
#include "tests/support/branch_plans.hpp"

#include <algorithm>
#include <cstdlib>

namespace {

std::string saved(const perm_csr &a, const char *engine, const char *precision,
                  const char *function = nullptr) {
    perm_opts opts = fuzz::limited();
    opts.device = nullptr; // a GPU's engine makes plans, too
    opts.engine = engine;
    opts.precision = precision;
    opts.function = function;
    perm_plan *plan = nullptr;
    if (perm_plan_create(&a, &opts, &plan) != PERM_OK) fuzz::fail(perm_last_error());
    std::size_t needed = 0;
    perm_plan_save(plan, nullptr, 0, &needed);
    std::string bytes(needed, '\0');
    perm_plan_save(plan, bytes.data(), bytes.size(), nullptr);
    perm_plan_destroy(plan);
    return bytes;
}

std::string saved(const char *engine, const char *precision, std::int32_t type) {
    const fuzz::Band band;
    perm_csr a = band.csr;
    a.value_type = type;
    if (type == PERM_VALUE_PATTERN) a.values = nullptr;
    const std::vector<std::int64_t> ones(band.values.size(), 1);
    if (type == PERM_VALUE_I64) a.values = ones.data();
    return saved(a, engine, precision);
}

// Low rank on both sides of a band.
std::string separable() {
    const perm::Csr a = perm::families::build(24, 24, [](std::int64_t i, std::int64_t j) {
        const std::int64_t far = std::abs(i - j);
        return static_cast<double>(far < 3 ? 7 * i % 5 + 2 * j % 3 + 1 : far);
    });
    return saved(a.view(), "separable", "exact");
}

// Five ones in each line.
std::string sieve() {
    const perm::Csr a = perm::families::circulant(24, {0, 1, 5, 11, 18});
    return saved(a.view(), "sieve", "exact");
}

// A graph of triangles in the plane.
std::string planar_graph() {
    constexpr std::int64_t width = 6;
    const perm::Csr a =
        perm::families::build(width * width, width * width, [](std::int64_t i, std::int64_t j) {
            const std::int64_t dx = std::abs(i % width - j % width), dy = std::abs(i / width - j / width);
            const bool is_diagonal = dx == 1 && dy == 1 && (i < j) == (i % width < j % width);
            return dx + dy == 1 || is_diagonal ? 1.0 : 0.0;
        });
    return saved(a.view(), "planar", "exact", "hafnian");
}

// Computed along a random tree.
std::string branched(branch_cases::Leaves leaves) {
    const fuzz::Band band;
    perm_opts opts = fuzz::limited();
    opts.engine = "frontier";
    perm::families::Random random(static_cast<std::uint64_t>(leaves));
    return branch_cases::along_random_trees(band.csr, opts, leaves, random).bytes;
}

const std::string &genuine() {
    static const std::string bytes = saved("auto", "double", PERM_VALUE_F64);
    return bytes;
}

constexpr std::size_t most_entries = 1 << 20;

// That such a plan asks for, at most.
std::size_t given_entries(const libperm::InputPattern &input) {
    std::size_t count = 0;
    for (const libperm::InputPattern *as = &input; as; as = as->written.get()) {
        count = std::max(count, static_cast<std::size_t>(as->pattern.nnz()));
        for (const std::int64_t from : as->source)
            if (from >= 0) count = std::max(count, static_cast<std::size_t>(from) + 1);
    }
    return count;
}

struct PlannedValues {
    std::vector<double> doubles;
    std::vector<std::int64_t> integers;
    std::vector<const char *> texts;
    const void *data = nullptr;

    PlannedValues(perm_value_type type, std::size_t count) {
        switch (type) {
        case PERM_VALUE_F64:
        case PERM_VALUE_C128:
            doubles.resize(2 * count, 1.5);
            data = doubles.data();
            break;
        case PERM_VALUE_I64:
            integers.resize(count, 3);
            data = integers.data();
            break;
        case PERM_VALUE_TEXT:
            texts.resize(count, "2/3");
            data = texts.data();
            break;
        default:
            break;
        }
    }
};

} // namespace

void fuzz::run(std::string_view input) {
    const std::string bytes = sealed_like(genuine(), std::string(input));
    perm_opts opts = PERM_OPTS_INIT;
    opts.threads = 1;
    opts.time_limit_seconds = 1;
    opts.memory_limit_bytes = 256 << 20;
    opts.cache_dir = "";
    perm_plan *plan = nullptr;
    const perm_status status = perm_plan_load(bytes.data(), bytes.size(), &opts, &plan);
    if (status == PERM_INTERNAL) fail(perm_last_error());
    require((status == PERM_OK) == (plan != nullptr), "a plan, or a failure, but not both");
    if (!plan) return;
    std::size_t needed = 0;
    for (const perm_format format : {PERM_FORMAT_TEXT, PERM_FORMAT_JSON, PERM_FORMAT_PICTURE})
        require(perm_plan_explain(plan, format, nullptr, 0, &needed) != PERM_INTERNAL, perm_last_error());
    require(perm_plan_save(plan, nullptr, 0, &needed) == PERM_OK, perm_last_error());
    const libperm::Plan known = load_plan(bytes, libperm::Options());
    if (const std::size_t count = given_entries(known.input); count < most_entries) {
        const PlannedValues values(known.input.value_type, count);
        perm_result result = PERM_RESULT_INIT;
        check_call(perm_plan_execute(plan, values.data, &result), result);
        perm_task *task = nullptr;
        std::int64_t shards = 0;
        if (perm_task_plan(plan, values.data, &task) == PERM_OK)
            require(perm_task_shards(task, &shards, nullptr, nullptr) == PERM_OK && shards > 0, "no shard");
        perm_task_destroy(task);
    }
    perm_plan_destroy(plan);
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> all;
    for (const char *engine : {"auto", "ryser", "frontier", "tree", "hybrid"})
        for (const char *precision : {"auto", "double", "dd", "exact", "mpfr:300"})
            for (const std::int32_t type : {PERM_VALUE_F64, PERM_VALUE_I64, PERM_VALUE_PATTERN})
                all.push_back(payload_of(saved(engine, precision, type)));
    using branch_cases::Leaves;
    for (const Leaves leaves : {Leaves::rows, Leaves::columns, Leaves::entries, Leaves::mixed})
        all.push_back(payload_of(branched(leaves)));
    all.push_back(payload_of(separable()));
    all.push_back(payload_of(sieve()));
    all.push_back(payload_of(planar_graph()));
    return all;
}
