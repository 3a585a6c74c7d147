// The files of perm plan and perm shard with anything behind right seals: read, and combined.
#include "tests/fuzz/inputs.hpp"
#include "tests/fuzz/sealed.hpp"
#include "tests/support/whole_file.hpp"

#include "commands.hpp"
#include "options.hpp"
#include "output.hpp"
#include "part_file.hpp"

#include <cstdio>

namespace {

perm::PartFile part(const char *engine) {
    const fuzz::Band band;
    perm_opts opts = fuzz::limited();
    opts.engine = engine;
    opts.without = "all";
    const perm::Plan plan(band.csr, opts);
    perm::PartFile part;
    part.plan = {"band.mtx", perm::pattern_of(band.csr), plan.save()};
    part.values = perm::values_of(band.csr);
    for (std::int64_t k = 0; k < plan.shards(); ++k) part.partials[k] = plan.run_shard(band.csr.values, k);
    return part;
}

struct Files {
    std::string plan, part;
};

const std::vector<Files> &genuine() {
    static const std::vector<Files> all = [] {
        std::vector<Files> files;
        const std::string name = fuzz::scratch_folder() + "/file";
        for (const char *engine : {"frontier", "tree"}) {
            perm::PartFile whole = part(engine);
            perm::write_plan_file(name, whole.plan);
            const std::string plan = whole_file::read(name);
            std::remove(name.c_str());
            perm::write_part_file(name, whole);
            files.push_back({plan, whole_file::read(name)});
            std::remove(name.c_str());
        }
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
    if (is_plan) return expect_errors([&] { perm::read_plan_file(name); });
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
