#include "answer.hpp"
#include "commands.hpp"
#include "job.hpp"
#include "output.hpp"

#include "lib/base/durable_file.hpp"

namespace perm {
namespace {

// A stop that leaves a checkpoint says how to go on.
Result execute(const Options &options, const Job &job) {
    try {
        return job.execute();
    } catch (const Error &error) {
        const bool stopped = error.status() == PERM_CANCELLED || error.status() == PERM_REFUSED_TIME;
        if (!stopped || !libperm::exists(options.checkpoint)) throw;
        throw Error(error.status(), error.what() + how_to_go_on(options));
    }
}

} // namespace

void run_compute(const Options &options) {
    const Stopwatch watch;
    if (!options.checkpoint.empty()) require_folder_of(options.checkpoint);
    Result result;
    std::string plan;
    Seconds seconds{};
    {
        const Job job(options);
        result = execute(options, job);
        if (options.json) plan = job.explain(PERM_FORMAT_JSON);
        seconds = {watch.seconds(), job.seconds_read(), result->seconds_check, job.seconds_plan(),
                   result->seconds_run};
    }
    write_answer(options, file_name(options), *result.raw(), seconds, plan);
}

} // namespace perm
