// Shards of a plan, put together: the bits of one execution, whoever ran which; and all that is refused.
#include "bench/families.hpp"
#include "lib/execute/plan_task.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/large_cases.hpp"
#include "tests/support/plan_in_memory.hpp"
#include "tests/support/plan_shards.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"
#include "tests/support/sealed_bytes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <thread>

using namespace perm::families;
using namespace sealed_bytes;

namespace {

constexpr std::int64_t most_shards = 65536;

struct RawPartial {
    perm_partial partial = PERM_PARTIAL_INIT;
    RawPartial() = default;
    RawPartial(const RawPartial &) = delete;
    RawPartial &operator=(const RawPartial &) = delete;
    ~RawPartial() { perm_partial_clear(&partial); }
};

std::string error_text() { return perm_last_error(); }

// work()'s status, of wrappers that throw.
template <class Work> perm_status status_of(const Work &work) {
    try {
        work();
        return PERM_OK;
    } catch (const perm::Error &error) {
        CHECK(error_text().size() > 20);
        return error.status();
    }
}

perm_status combine(const perm::Plan &plan, const void *values, const std::vector<std::string> &partials) {
    return status_of([&] { combined(perm::Task::plan(plan, values), partials); });
}

perm_status run_shard(const perm::Plan &plan, const void *values, std::int64_t number) {
    return status_of([&] { perm::Task::plan(plan, values).run_shard(number); });
}

std::string first_shard(const perm::Plan &plan, const void *values) {
    return perm::Task::plan(plan, values).run_shard(0);
}

perm_opts on_threads(perm_opts opts, std::int32_t threads) {
    opts.threads = threads;
    return opts;
}

// By plans of several thread counts, saved and loaded ones too, in random order, some twice. Returns how many
// shards there are.
std::int64_t check_shards(const perm_csr &a, const void *values, const perm_opts &opts, Random &random) {
    std::vector<perm::Plan> plans;
    for (const std::int32_t threads : {1, 2, 3}) plans.emplace_back(a, on_threads(opts, threads));
    perm_opts machine = on_threads(PERM_OPTS_INIT, 2);
    machine.memory_limit_bytes = opts.memory_limit_bytes;
    machine.cache_dir = "";
    plans.push_back(perm::Plan::load(plans[0].save(), machine));
    std::vector<perm::Task> tasks;
    for (const perm::Plan &plan : plans) tasks.push_back(perm::Task::plan(plan, values));
    const auto any = [&]() -> const perm::Task & {
        return tasks[static_cast<std::size_t>(random.integer(0, std::ssize(tasks) - 1))];
    };
    const std::int64_t count = any().shards();
    REQUIRE(count >= 1);
    REQUIRE(count <= most_shards);
    for (const perm::Task &task : tasks) {
        CHECK(task.shards() == count);
        CHECK(task.shard_seconds() == tasks[0].shard_seconds());
    }
    std::vector<std::string> partials(static_cast<std::size_t>(count));
    for (const std::int64_t k : random.permutation(count))
        partials[static_cast<std::size_t>(k)] = any().run_shard(k);
    for (int repeated = 0; repeated < 2; ++repeated) {
        const auto k = static_cast<std::size_t>(random.integer(0, count - 1));
        partials.push_back(any().run_shard(static_cast<std::int64_t>(k)));
        CHECK(partials.back() == partials[k]);
    }
    std::vector<std::string> shuffled;
    for (const std::int64_t k : random.permutation(std::ssize(partials)))
        shuffled.push_back(partials[static_cast<std::size_t>(k)]);
    perm::Result whole = plans[0].execute(values), sum = combined(any(), shuffled);
    CHECK(sum.text().size() > 0);
    check_same_answer(*whole.raw(), *sum.raw());
    return count;
}

std::int64_t check_shards(const perm::Csr &a, const perm_opts &opts, Random &random) {
    return check_shards(a.view(), a.view().values, opts, random);
}

} // namespace

// ---------------------------------------------------------------- the same bits

TEST_CASE("every engine and kind of numbers, divided") {
    Random random(run::seed(9200));
    for (const LargeCase &c : large_cases(run::sanitized ? 2 : 3, random.bits())) {
        CAPTURE(c.name);
        CHECK(check_shards(c.csr, c.csr.values, c.opts, random) > 1);
    }
}

TEST_CASE("small matrices of every kind, with every engine and precision") {
    Random random(run::seed(9201));
    for (int i = 0; i < run::cases(2); ++i)
        for (const char *engine : {"auto", "ryser", "tree", "frontier"})
            for (const char *precision : {"auto", "double", "dd", "exact"})
                for (const char *left_out : {"", "all"}) {
                    perm_opts opts = in_precision(engine, precision);
                    opts.without = left_out;
                    const perm::Csr a = random_matrix(random.integer(0, 8), random);
                    CAPTURE(describe(a));
                    check_shards(a, opts, random);
                }
}

TEST_CASE("orders 0 and 1, and no perfect matching") {
    Random random(run::seed(9202));
    for (const perm::Csr &a : {from_dense({}), from_dense({{3}}), from_dense({{0}}),
                               from_dense({{1, 2}, {0, 0}}), from_dense({{0, 1}, {0, 1}})})
        CHECK(check_shards(a, PERM_OPTS_INIT, random) == 1);
}

TEST_CASE("rectangles, int64, patterns and multiplicities") {
    Random random(run::seed(9203));
    const perm::Csr wide = build(18, 21, [&](auto, auto) { return random.uniform(0.5, 1); });
    CHECK(check_shards(wide, in_precision("ryser", "double"), random) > 1);
    check_shards(build(3, 5, [](auto i, auto j) { return static_cast<double>(1 + i * j); }), PERM_OPTS_INIT,
                 random);

    for (const char *engine : {"ryser", "frontier", "auto"}) {
        const perm::Csr few = erdos_renyi(12, 1, Entries::real, random.bits());
        std::vector<std::int64_t> rows(12), cols(12);
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = cols[i] = random.integer(0, 5);
        perm_csr a = few.view();
        a.row_multiplicity = rows.data();
        a.col_multiplicity = cols.data();
        check_shards(a, a.values, in_precision(engine, "double"), random);
    }
    const perm::Csr cycle = circulant(30, {0, 1, 3, 4, 9});
    perm_csr pattern = cycle.view();
    pattern.values = nullptr;
    pattern.value_type = PERM_VALUE_PATTERN;
    check_shards(pattern, nullptr, PERM_OPTS_INIT, random);
    const std::vector<std::int64_t> ones(static_cast<std::size_t>(pattern.nnz), -7);
    pattern.values = ones.data();
    pattern.value_type = PERM_VALUE_I64;
    check_shards(pattern, ones.data(), PERM_OPTS_INIT, random);
}

TEST_CASE("many blocks: some large, some repeated, zeros among the values") {
    Random random(run::seed(9204));
    for (const char *engine : {"auto", "ryser"}) {
        std::vector<perm::Csr> blocks;
        for (int k = 0; k < 12; ++k)
            blocks.push_back(dense_block(random.integer(5, 13), Entries::real, random));
        for (int k = 0; k < 6; ++k) blocks.push_back(blocks[static_cast<std::size_t>(random.integer(0, 11))]);
        const std::int64_t large = std::string_view(engine) == "auto" ? 25 : 21; // so that it has pieces
        blocks.push_back(dense_block(large, Entries::real, random));
        blocks.push_back(dense_block(large - 1, Entries::real, random));
        const perm::Csr a = diagonal_of(blocks);
        CHECK(check_shards(a, in_precision(engine, "double"), random) > 1);
        perm::Csr zeros = a;
        for (double &x : zeros.values)
            if (random.chance(0.02)) x = 0;
        check_shards(a.view(), zeros.values.data(), in_precision(engine, "double"), random);
    }
    check_shards(block_triangular(5, 9, 0.7, Entries::real, random.bits()), in_precision("auto", "dd"),
                 random);
    std::vector<perm::Csr> small;
    for (int k = 0; k < (run::sanitized ? 200 : 2000); ++k)
        small.push_back(dense_block(random.integer(4, 7), Entries::real, random));
    check_shards(diagonal_of(small), in_precision("auto", "double"), random);
}

TEST_CASE("precision auto that goes on to a second run") {
    Random random(run::seed(9205));
    for (const double tolerance : {1e-14, 1e-30}) {
        perm_opts opts = in_precision("auto", "auto");
        opts.tolerance = tolerance;
        check_shards(erdos_renyi(14, 0.8, Entries::real, random.bits()), opts, random);
        check_shards(erdos_renyi(20, 1, Entries::real, random.bits()), opts, random);
    }
}

TEST_CASE("many threads run shards of one plan at once") {
    Random random(run::seed(9206));
    const LargeCase c = grown(in_precision("ryser", "double"), 6, 14, [&](std::int64_t n) {
        return large_case(erdos_renyi(n, 1, Entries::real, random.bits()));
    });
    const perm::Plan plan(c.csr, c.opts);
    const perm::Task task = perm::Task::plan(plan, c.csr.values);
    std::vector<std::string> partials(static_cast<std::size_t>(task.shards()));
    std::vector<std::jthread> threads;
    for (std::size_t first = 0; first < 3; ++first)
        threads.emplace_back([&, first] {
            for (std::size_t k = first; k < partials.size(); k += 3)
                partials[k] = task.run_shard(static_cast<std::int64_t>(k));
        });
    threads.clear();
    check_same_answer(*plan.execute(c.csr.values).raw(), *combined(task, partials).raw());
}

// ---------------------------------------------------------------- counts

TEST_CASE("large plans: shards are counted without overflow, on a GPU that is not there too") {
    struct Large {
        const char *engine, *device;
        std::int64_t n;
    };
    for (const auto &[engine, device, n] :
         {Large{"dense", "gpu", 48}, Large{"dense", "gpu", 62}, Large{"dense", "gpu", 63},
          Large{"dense", "gpu", 64}, Large{"ryser", "cpu", 62}, Large{"ryser", "cpu", 64},
          Large{"ryser", "cpu", 65}, Large{"ryser", "cpu", 300}}) {
        CAPTURE(n);
        CAPTURE(std::string(engine));
        perm_opts opts = in_precision(engine, "double", device);
        opts.time_limit_seconds = std::numeric_limits<double>::infinity();
        const perm::Csr a = erdos_renyi(n, 1, Entries::real, 1);
        const perm::Plan plan(a, opts);
        const perm::Task task = perm::Task::plan(plan, a.values);
        const std::int64_t count = task.shards();
        CHECK(count >= 1);
        CHECK(count <= most_shards);
        CHECK(task.shard_seconds() > 0);
        if (std::string(device) == "gpu" && n <= 62) CHECK(count > 1000);
        for (const std::int64_t number : {std::int64_t{-1}, count, std::numeric_limits<std::int64_t>::max(),
                                          std::numeric_limits<std::int64_t>::min()})
            CHECK(run_shard(plan, a.values.data(), number) == PERM_BAD_ARGUMENT);
    }
}

TEST_CASE("every piece is in one shard, and the shards of a large block are alike") {
    Random random(run::seed(9207));
    for (int i = 0; i < run::cases(200); ++i) {
        const auto draw = [&](int bits) {
            return std::uint64_t{1} + (random.bits() & ((std::uint64_t{1} << random.integer(0, bits)) - 1));
        };
        const std::uint64_t shards = draw(16), pieces = draw(16);
        const libperm::BlockTask task{0, random.bits() >> random.integer(0, 63), 0};
        std::vector<std::uint64_t> in(shards, 0);
        std::uint64_t before = 0;
        bool ascends = true;
        for (std::uint64_t k = 0; k < pieces; ++k) {
            const std::uint64_t shard = libperm::shard_of(task, pieces, k, shards);
            REQUIRE(shard < shards);
            ++in[shard];
            ascends = ascends && before <= shard;
            before = shard;
        }
        if (pieces < shards) continue;
        CHECK(ascends);
        CHECK(*std::max_element(in.begin(), in.end()) - *std::min_element(in.begin(), in.end()) <= 1);
    }
    CHECK(libperm::shard_of({}, std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1, most_shards) ==
          most_shards - 1);
}

TEST_CASE("the progress of a shard is its own") {
    Random random(run::seed(9208));
    const LargeCase c = grown(in_precision("ryser", "double"), 6, 14, [&](std::int64_t n) {
        return large_case(erdos_renyi(n, 1, Entries::real, 3));
    });
    const perm::Csr a = erdos_renyi(c.csr.n_rows, 1, Entries::real, 3);
    const libperm::Plan plan = plan_in_memory(a, c.opts);
    const libperm::Values values = libperm::read_values(plan.input, a.values.data());
    for (std::int64_t k = 0; k < libperm::shards_of(plan).count; ++k) {
        libperm::CurrentCall control(plan.options);
        libperm::run_shard(libperm::PlanTask(plan, values), k);
        CHECK(libperm::call().fraction() > 0.7);
    }
}

// ---------------------------------------------------------------- what is refused

TEST_CASE("missing shards are named") {
    Random random(run::seed(9209));
    const LargeCase c = grown(in_precision("ryser", "double"), 4, 14, [&](std::int64_t n) {
        return large_case(erdos_renyi(n, 1, Entries::real, 4));
    });
    const perm::Plan raw(c.csr, c.opts);
    const std::vector<std::string> partials = all_shards(perm::Task::plan(raw, c.csr.values));
    CHECK(combine(raw, c.csr.values, {}) == PERM_BAD_ARGUMENT);
    for (std::size_t missing = 0; missing < partials.size(); ++missing) {
        std::vector<std::string> some = partials;
        some[missing] = partials[(missing + 1) % partials.size()];
        CHECK(combine(raw, c.csr.values, some) == PERM_BAD_ARGUMENT);
        CHECK(error_text().find("missing, the first is " + std::to_string(missing)) != std::string::npos);
    }
    CHECK(combine(raw, c.csr.values, partials) == PERM_OK);
}

TEST_CASE("partial results of other plans, values and versions") {
    const perm::Csr a = erdos_renyi(6, 0.9, Entries::nonnegative, 5);
    perm::Csr b = a;
    b.values[0] *= 2;
    const perm::Plan raw(a);
    const auto check_refused = [&](const std::string &partial, perm_status status, const char *word) {
        CAPTURE(std::string(word));
        CHECK(combine(raw, a.values.data(), {partial}) == status);
        CHECK(error_text().find(word) != std::string::npos);
    };
    CHECK(combine(raw, a.values.data(), {first_shard(perm::Plan(a), a.values.data())}) == PERM_OK);
    check_refused(first_shard(perm::Plan(a), b.values.data()), PERM_BAD_ARGUMENT, "other values");
    check_refused(first_shard(perm::Plan(a, in_precision("ryser", "dd")), a.values.data()), PERM_BAD_ARGUMENT,
                  "another plan");
    const perm::Csr other = erdos_renyi(7, 0.9, Entries::nonnegative, 5);
    check_refused(first_shard(perm::Plan(other), other.values.data()), PERM_BAD_ARGUMENT, "another matrix");
    check_refused(perm::Plan(a).save(), PERM_BAD_ARGUMENT, "not the partial result");
    check_refused("", PERM_BAD_ARGUMENT, "cut off");
    std::string version = first_shard(perm::Plan(a), a.values.data());
    version[version_at] = '9';
    check_refused(version, PERM_UNSUPPORTED, "libperm 9");
}

TEST_CASE("partial results that are damaged or cut off") {
    const perm::Csr a = erdos_renyi(6, 0.9, Entries::real, 6);
    const perm::Plan raw(a);
    const std::string bytes = first_shard(perm::Plan(a), a.values.data());
    CHECK(bytes.size() < 1000);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK(combine(raw, a.values.data(), {bytes.substr(0, size)}) == PERM_BAD_ARGUMENT);
    CHECK(combine(raw, a.values.data(), {bytes + "x"}) == PERM_BAD_ARGUMENT);
    for (std::size_t k = 0; k < bytes.size(); ++k)
        for (int bit = run::sanitized ? 7 : 0; bit < 8; ++bit) {
            std::string other = bytes;
            other[k] = static_cast<char>(other[k] ^ 1 << bit);
            const perm_status status = combine(raw, a.values.data(), {other});
            CHECK((status == PERM_BAD_ARGUMENT || status == PERM_UNSUPPORTED));
            if (status == PERM_UNSUPPORTED) CHECK(k < header_bytes); // the format's and the version's
        }
    CHECK(combine(raw, a.values.data(), {bytes, "x"}) == PERM_BAD_ARGUMENT); // also beside a good one
}

TEST_CASE("forged partial results with the right checksum: a result or a status") {
    Random random(run::seed(9210));
    int accepted = 0, refused = 0;
    const auto attack = [&](const perm_csr &a, const perm_opts &opts, int times) {
        const perm::Plan raw(a, opts);
        const std::vector<std::string> partials = all_shards(perm::Task::plan(raw, a.values));
        for (int i = 0; i < run::cases(times); ++i) {
            std::vector<std::string> some = partials;
            std::string &bytes = some[static_cast<std::size_t>(random.integer(0, std::ssize(some) - 1))];
            const auto place = [&] { return random.integer(header_bytes + 81, std::ssize(bytes) - 8); };
            bytes = forged(bytes, place, random);
            ++(combine(raw, a.values, some) == PERM_OK ? accepted : refused);
        }
    };
    for (const char *precision : {"auto", "double", "dd", "exact", "mpfr:100"}) {
        const perm::Csr a = erdos_renyi(7, 0.9, Entries::real, random.bits());
        perm_opts opts = in_precision(std::string(precision) == "mpfr:100" ? "ryser" : "auto", precision);
        opts.without = "all";
        attack(a.view(), opts, 120);
    }
    for (const LargeCase &c : large_cases(2, random.bits()))
        if (c.name.find("exact") == std::string::npos || c.name.starts_with("frontier"))
            attack(c.csr, c.opts, 4);
    MESSAGE(accepted << " were combined, " << refused << " were not");
    CHECK(accepted > 20);
    CHECK(refused > 20);
}

TEST_CASE("values of another kind than the plan's") {
    const perm::Csr a = erdos_renyi(6, 0.9, Entries::nonnegative, 7);
    const perm::Plan plan(a);
    std::vector<double> negative = a.values;
    negative[2] = -1;
    const std::string partial = first_shard(perm::Plan(a), a.values.data());
    CHECK(run_shard(plan, negative.data(), 0) == PERM_BAD_ARGUMENT);
    CHECK(error_text().find("negative") != std::string::npos);
    CHECK(combine(plan, negative.data(), {partial}) == PERM_BAD_ARGUMENT);
    negative[2] = std::nan("");
    CHECK(run_shard(plan, negative.data(), 0) == PERM_BAD_MATRIX);
    CHECK(run_shard(plan, nullptr, 0) == PERM_BAD_ARGUMENT);

    perm::Csr c = a;
    for (const double x : a.values) c.complex_values.emplace_back(x, 0);
    const perm::Plan real(c);
    c.complex_values[1] = {0, 1};
    CHECK(run_shard(real, c.complex_values.data(), 0) == PERM_BAD_ARGUMENT);
    CAPTURE(error_text());
    CHECK(error_text().find("complex") != std::string::npos);
    perm_opts equal = PERM_OPTS_INIT;
    equal.chunks = "equal";
    CHECK(run_shard(perm::Plan(a, equal), a.values.data(), 0) == PERM_UNSUPPORTED);
}

TEST_CASE("null pointers, sizes, limits and callbacks") {
    const perm::Csr a = erdos_renyi(6, 0.9, Entries::real, 8);
    const perm::Plan plan(a);
    const perm::Task task = perm::Task::plan(plan, a.values);
    RawPartial partial;
    perm::Result result;
    perm_answer answer = PERM_ANSWER_INIT;
    answer.results = result.raw();
    answer.count = 1;
    CHECK(perm_task_run_shard(nullptr, 0, &partial.partial) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_run_shard(task.raw(), 0, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_partial_clear(nullptr) == PERM_OK);
    for (int again = 0; again < 2; ++again) // a used one is freed
        CHECK(perm_task_run_shard(task.raw(), 0, &partial.partial) == PERM_OK);
    const auto combine_all = [&](const perm_task *of, const perm_partial *partials, std::int64_t count) {
        return perm_task_combine(of, partials, count, &answer);
    };
    CHECK(combine_all(task.raw(), &partial.partial, 1) == PERM_OK);
    CHECK(combine_all(task.raw(), &partial.partial, -1) == PERM_BAD_ARGUMENT);
    CHECK(combine_all(task.raw(), nullptr, 1) == PERM_BAD_ARGUMENT);
    CHECK(combine_all(task.raw(), nullptr, 0) == PERM_BAD_ARGUMENT);
    CHECK(combine_all(nullptr, &partial.partial, 1) == PERM_BAD_ARGUMENT);
    CHECK(perm_task_combine(task.raw(), &partial.partial, 1, nullptr) == PERM_BAD_ARGUMENT);
    perm_partial unset = PERM_PARTIAL_INIT;
    unset.struct_size = 8;
    CHECK(combine_all(task.raw(), &unset, 1) == PERM_BAD_ARGUMENT);
    CHECK(perm_partial_clear(&unset) == PERM_BAD_ARGUMENT);
    CHECK(run_shard(plan, a.values.data(), 1) == PERM_BAD_ARGUMENT);
    perm_opts cancelled = in_precision("ryser", "double");
    cancelled.without = "all";
    const perm::Csr large = erdos_renyi(26, 1, Entries::real, 9);
    const std::string saved = perm::Plan(large, cancelled).save();
    cancelled.cancel = [](void *) { return 1; };
    const perm::Plan loaded = perm::Plan::load(saved, cancelled);
    const perm::Task of_loaded = perm::Task::plan(loaded, large.values.data());
    CHECK(perm_task_run_shard(of_loaded.raw(), 0, &partial.partial) == PERM_CANCELLED);
    CHECK(partial.partial.bytes == nullptr);

    perm_opts refused = in_precision("ryser", "double");
    const perm::Plan years(erdos_renyi(60, 1, Entries::real, 10), refused);
    CHECK(run_shard(years, std::vector<double>(3600, 0.5).data(), 0) == PERM_REFUSED_TIME);
}
