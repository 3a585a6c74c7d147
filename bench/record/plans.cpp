// Plans: executed again and again, in batches, with derivatives, from saved bytes, in shards.
#include "bench/record/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using perm::families::Entries;

namespace {

constexpr int variants = 8; // of a sample's values; 0: as they are

double varied(double x, std::size_t place, int variant) {
    switch (variant) {
    case 1:
        return -x;
    case 2:
        return std::fabs(x);
    case 3:
        return place % 4 == 0 ? 0 : x;
    case 4:
        return std::round(8 * x);
    case 5:
        return std::ldexp(x, place % 3 == 0 ? 300 : -300);
    case 6:
        return std::ldexp(x, -1050);
    case 7:
        return std::ldexp(x, 1000);
    default:
        return x;
    }
}

std::int64_t varied(std::int64_t x, std::size_t place, int variant) {
    switch (variant) {
    case 1:
        return -x;
    case 2:
        return std::abs(x);
    case 3:
        return place % 4 == 0 ? 0 : x;
    case 4:
        return x * 1000000007;
    case 5:
        return x << (place % 5 * 10);
    default:
        return x + variant;
    }
}

// The same pattern with other values.
Sample varied(Sample sample, int variant) {
    for (std::size_t k = 0; k < sample.doubles.size(); ++k)
        sample.doubles[k] = varied(sample.doubles[k], k, variant);
    for (std::size_t k = 0; k < sample.integers.size(); ++k)
        sample.integers[k] = varied(sample.integers[k], k, variant);
    std::rotate(sample.texts.begin(),
                sample.texts.begin() + std::min<std::ptrdiff_t>(variant, std::ssize(sample.texts)),
                sample.texts.end());
    return sample;
}

PlanOf loaded(const std::string &bytes, const perm_opts &opts) {
    perm_plan *plan = nullptr;
    perm::check(perm_plan_load(bytes.data(), bytes.size(), &opts, &plan));
    return {plan, &perm_plan_destroy};
}

void record_repeated(Recorder &to, const std::string &name, const Sample &sample, const perm_opts &opts) {
    const PlanOf plan = plan_of(sample, opts);
    for (const char *turn : {"first", "second", "third"})
        to.attempt(name + "/" + turn, [&] { return executed(plan.get(), GivenSample(sample).values()); });
    for (int variant = 1; variant < variants; ++variant) {
        const Sample other = varied(sample, variant);
        to.attempt(fmt::format("{}/other{}", name, variant),
                   [&] { return executed(plan.get(), GivenSample(other).values()); });
    }
    to.attempt(name + "/first_again", [&] { return executed(plan.get(), GivenSample(sample).values()); });
}

void record_saved(Recorder &to, const std::string &name, const Sample &sample, const perm_opts &opts) {
    const std::string bytes = saved(plan_of(sample, opts).get());
    to.attempt_text("plan:" + name, [&] { return bytes; });
    perm_opts machine = to.options(nullptr, nullptr);
    machine.device = nullptr;
    to.attempt(name + "/loaded",
               [&] { return executed(loaded(bytes, machine).get(), GivenSample(sample).values()); });
    to.attempt(name + "/saved_again", [&] {
        return saved(loaded(bytes, machine).get()) == bytes ? std::string("equal")
                                                            : std::string("other bytes");
    });
}

class Results {
  public:
    explicit Results(std::size_t count) : all_(count, PERM_RESULT_INIT) {}
    ~Results() {
        for (perm_result &result : all_) perm_result_clear(&result);
    }
    Results(const Results &) = delete;
    Results &operator=(const Results &) = delete;
    perm_result *data() { return all_.data(); }
    const perm_result &operator[](std::size_t k) const { return all_[k]; }

  private:
    std::vector<perm_result> all_;
};

void record_batch(Recorder &to, const std::string &name, const Sample &sample, const perm_opts &opts) {
    const bool has_values = sample.type != PERM_VALUE_PATTERN;
    Sample all = varied(sample, 0); // of all matrices the values, one behind the other
    for (int variant = 1; has_values && variant < variants; ++variant) {
        const Sample other = varied(sample, variant);
        all.doubles.insert(all.doubles.end(), other.doubles.begin(), other.doubles.end());
        all.integers.insert(all.integers.end(), other.integers.begin(), other.integers.end());
        all.texts.insert(all.texts.end(), other.texts.begin(), other.texts.end());
    }
    const PlanOf plan = plan_of(sample, opts);
    Results results(variants);
    const std::int64_t stride = has_values ? std::ssize(sample.col_idx) : 0;
    const perm_status status =
        perm_plan_execute_batch(plan.get(), GivenSample(all).values(), stride, variants, results.data());
    for (std::size_t k = 0; k < variants; ++k)
        to.attempt(fmt::format("{}/batch{}", name, k), [&] {
            perm::check(status);
            return result_text(results[k]);
        });
}

void record_gradient(Recorder &to, const std::string &name, const Sample &sample, const perm_opts &opts) {
    const PlanOf plan = plan_of(sample, opts);
    const std::size_t count = sample.col_idx.size();
    for (int variant = 0; variant < variants; ++variant)
        to.attempt(fmt::format("{}/gradient{}", name, variant), [&] {
            const Sample other = varied(sample, variant);
            std::vector<double> gradient(sample.type == PERM_VALUE_C128 ? 2 * count : count), bounds(count);
            perm::Result result;
            perm::check(perm_plan_gradient(plan.get(), GivenSample(other).values(), gradient.data(),
                                           bounds.data(), result.raw()));
            return fmt::format("{} gradient={} bounds={} last={}", result_text(*result.raw()),
                               digest_of(gradient), digest_of(bounds),
                               count > 0 ? bits_of(gradient.back()) : "none");
        });
}

// ---------------------------------------------------------------- shards

std::string combined(const perm::Task &task, const std::vector<std::string> &partials) {
    return result_text(*task.combine(partials).at(0).raw());
}

void record_combinations(Recorder &to, const std::string &name, const perm_plan *plan, const void *values,
                         const perm::Task &task, std::vector<std::string> partials) {
    to.attempt(name + "/combined", [&] { return combined(task, partials); });
    std::reverse(partials.begin(), partials.end());
    partials.push_back(partials.front());
    to.attempt(name + "/reversed", [&] { return combined(task, partials); });
    to.attempt(name + "/whole", [&] { return executed(plan, values); });
    to.attempt(name + "/missing", [&] { return combined(task, {partials.begin() + 1, partials.end() - 1}); });
    partials.front()[partials.front().size() / 2] ^= 1;
    to.attempt(name + "/damaged", [&] { return combined(task, partials); });
    to.attempt(name + "/none_such", [&] { return task.run_shard(1 << 20); });
}

void record_sharded(Recorder &to, const std::string &name, const Sample &sample, const perm_opts &opts) {
    if (!to.wants(name)) return;
    const GivenSample given(sample);
    const perm::Plan plan(given.csr(), opts);
    const perm::Task task = perm::Task::plan(plan, given.values());
    const std::int64_t count = task.shards();
    const double seconds = task.shard_seconds();
    std::vector<std::string> partials;
    std::string all;
    for (std::int64_t k = 0; k < count; ++k) {
        partials.push_back(task.run_shard(k));
        all += partials.back();
    }
    to.attempt(name + "/shards", [&] {
        return fmt::format("count={} seconds={} bytes={} digest={} first={}", count, bits_of(seconds),
                           all.size(), digest_of(all), digest_of(partials.front()));
    });
    record_combinations(to, name, plan.raw(), given.values(), task, partials);
}

} // namespace

void record_plans(Recorder &to) {
    for (const Sample &sample : samples::for_plans())
        for (const char *precision : {"auto", "double", "dd", "exact"}) {
            const std::string name = fmt::format("plans/{}/{}", sample.name, precision);
            const perm_opts opts = to.options("auto", precision);
            record_repeated(to, name, sample, opts);
            record_saved(to, name, sample, opts);
            record_batch(to, name, sample, opts);
            if (precision == std::string("auto")) record_gradient(to, name, sample, opts);
        }
}

void record_shards(Recorder &to) {
    using namespace perm::families;
    const auto record = [&to](const Sample &sample, const char *engine, const char *precision,
                              std::int64_t memory = std::int64_t{1} << 30) {
        perm_opts opts = to.options(engine, precision);
        opts.without = "all";
        opts.memory_limit_bytes = memory;
        record_sharded(to, fmt::format("shards/{}/{}/{}", sample.name, engine, precision), sample, opts);
    };
    const Sample half23 = samples::real("half23", erdos_renyi(23, 0.5, Entries::real, 71)),
                 some25 = samples::real("some25", erdos_renyi(25, 0.3, Entries::nonnegative, 72)),
                 half28 = samples::real("half28", erdos_renyi(28, 0.4, Entries::real, 76)),
                 half20c = samples::complex("half20c", erdos_renyi(20, 0.5, Entries::real, 73)),
                 whole20 = samples::whole("whole20", erdos_renyi(20, 0.5, Entries::integers, 74)),
                 blocks = samples::real("blocks6x9", block_triangular(6, 9, 0.8, Entries::real, 75));
    record(half23, "ryser", "double");
    record(some25, "ryser", "double");
    record(half20c, "ryser", "dd");
    record(whole20, "ryser", "exact");
    record(half28, "tree", "double");
    record(half23, "tree", "dd");
    record(half20c, "tree", "dd");
    record(whole20, "tree", "exact");
    record(half23, "frontier", "double", 1000000);
    record(some25, "frontier", "dd", 500000);
    record(blocks, "auto", "auto");
}
