// The files of perm plan and perm shard with anything behind right seals: read, and combined.
#include "tests/fuzz/inputs.hpp"
#include "tests/fuzz/sealed.hpp"
#include "tests/support/whole_file.hpp"

#include "commands.hpp"
#include "options.hpp"
#include "output.hpp"
#include "part_file.hpp"

#include <cstdio>
#include <utility>

namespace {

struct Files {
    std::string plan, part;
};

// A part with all shards of the task.
std::string part_of(const perm::Task &task) {
    perm::Part whole;
    for (std::int64_t k = 0; k < task.shards(); ++k) {
        perm::Part one = perm::read_part("a shard", task.run_shard(k));
        one.shards.insert(one.shards.end(), whole.shards.begin(), whole.shards.end());
        whole = std::move(one);
    }
    whole.task = task.save();
    whole.matrix = "band.mtx";
    return libperm::sealed(libperm::part_seal, libperm::written(whole));
}

const std::vector<Files> &genuine() {
    static const std::vector<Files> all = [] {
        std::vector<Files> files;
        const fuzz::Band band;
        for (const char *engine : {"frontier", "tree"}) {
            perm_opts opts = fuzz::limited();
            opts.engine = engine;
            opts.without = "all";
            const perm::Plan plan(band.csr, opts);
            files.push_back({plan.save(), part_of(perm::Task::plan(plan, band.csr.values))});
        }
        const perm::Plan plan(band.csr, fuzz::limited());
        perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
        wanted.epsilon = 0.5;
        files.push_back({plan.save(), part_of(perm::Task::estimate(band.csr, wanted, fuzz::limited()))});
        files.push_back({plan.save(), part_of(perm::Task::matchings(band.csr, fuzz::limited()))});
        return files;
    }();
    return all;
}

template <class Work> void expect_errors(const Work &work) {
    try {
        work();
    } catch (const perm::Error &error) {
        if (error.status() == PERM_INTERNAL) fuzz::fail(error.what());
    } catch (const perm::OutputError &) {
    }
}

} // namespace

void fuzz::run(std::string_view input) {
    static std::FILE *const nowhere = std::freopen("/dev/null", "w", stdout); // where the answers go
    require(nowhere != nullptr, "no /dev/null");
    Bytes bytes(input);
    const Files &files = genuine()[bytes.bits(1) % genuine().size()];
    const bool is_plan = bytes.chance(64);
    const std::string name = scratch_folder() + "/file";
    whole_file::write(name, sealed_like(is_plan ? files.plan : files.part, std::string(bytes.rest())));
    if (is_plan) return expect_errors([&] { perm::load_plan_file(name, fuzz::limited()); });
    perm::Options options;
    options.parts = {name};
    options.quiet = true;
    options.time_limit_seconds = 1;
    options.memory_bytes = 256 << 20;
    options.threads = 1;
    expect_errors([&] { perm::run_combine(options); });
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> inputs;
    for (std::size_t k = 0; k < genuine().size(); ++k) {
        inputs.push_back(std::string{static_cast<char>(k), '\0'} + payload_of(genuine()[k].plan));
        inputs.push_back(std::string{static_cast<char>(k), '\xff'} + payload_of(genuine()[k].part));
    }
    return inputs;
}
