#include "capi/task.hpp"

#include "capi/boundary.hpp"
#include "jit/text/text.hpp"
#include "lib/base/json.hpp"
#include "lib/base/system.hpp"
#include "lib/base/threads.hpp"

libperm::ShardCount perm_task::shards() const {
    libperm::ShardCount shards;
    controlled([&](libperm::RunControl &control) {
        with_task(control, [&](const libperm::Task &task) { shards = task.shards(); });
    });
    return shards;
}

std::string perm_task::run_shard(std::int64_t number) const {
    libperm::require_counting(options(), shard_call());
    std::string bytes;
    controlled([&](libperm::RunControl &control) {
        const auto run = [&](const libperm::Task &task) {
            bytes = libperm::run_shard(task, number, control);
        };
        telling_interval([&] { libperm::with_threads(options().threads, [&] { with_task(control, run); }); });
    });
    return bytes;
}

std::string perm_task::explain(perm_format format) const {
    libperm::KeptAbout about;
    libperm::ShardCount shards;
    std::string kind;
    controlled([&](libperm::RunControl &control) {
        with_task(control, [&](const libperm::Task &task) {
            about = task.about();
            shards = task.shards();
            kind = task.identity().kind;
        });
    });
    const bool on_gpu = options().device == libperm::Device::gpu;
    if (!capi::is_json(format))
        return libperm::formatted("{} of a matrix of order {}, {} entries: {}, predicted to take {} on one "
                                  "thread or GPU\n{} shards of {} each\n",
                                  kind, about.n, about.entries, about.way,
                                  libperm::readable_seconds(about.seconds), shards.count,
                                  libperm::readable_seconds(shards.seconds));
    libperm::Json json{{"task", kind}, {"n", about.n}, {"nnz", about.entries}, {"method", about.way}};
    json["device"] = on_gpu ? "gpu" : "cpu";
    json["predicted_seconds"] = about.seconds;
    json["shards"] = shards.count;
    json["shard_seconds"] = shards.seconds;
    return json.written();
}
