#include "capi/results_by_size.hpp"

#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"

namespace capi {

void answer_by_size(const perm_answer &answer, const libperm::Plan &made, const libperm::Options &options,
                    const std::function<std::vector<libperm::Outcome>()> &find) {
    const bool fractions = options.precision == libperm::Precision::exact; // else all are decimals
    Stopwatch watch;
    libperm::with_threads(options.threads, [&] {
        const std::vector<libperm::Outcome> found = find();
        const double seconds = watch.lap();
        for (std::size_t k = 0; k < found.size(); ++k) {
            perm_result filled = PERM_RESULT_INIT;
            fill(filled, made, found[k], libperm::answer_of(found[k], fractions));
            filled.seconds_run = filled.seconds_total = seconds;
            write(result_at(answer.results, static_cast<std::int64_t>(k)), filled);
        }
    });
}

void run_by_size(std::int64_t count, perm_result *results, const char *what,
                 const std::function<std::unique_ptr<perm_task>()> &make) {
    if (count < 1)
        throw libperm::Error(PERM_BAD_ARGUMENT,
                             libperm::formatted("count is {}: of {} there is one at least", count, what));
    if (!results) require_result(results);
    ClearedOnFailure of_failure(results, count);
    Stopwatch watch;
    const std::unique_ptr<perm_task> task = make();
    if (count != task->results())
        throw libperm::Error(
            PERM_BAD_ARGUMENT,
            libperm::formatted("count is {}: of this matrix there are {} {}", count, task->results(), what));
    perm_answer answer = PERM_ANSWER_INIT;
    answer.results = results;
    answer.count = count;
    task->run(answer);
    const double seconds = watch.lap();
    for (std::int64_t k = 0; k < count; ++k) {
        perm_result &r = result_at(results, k);
        r.seconds_run = r.seconds_total = seconds;
    }
    of_failure.keep();
}

} // namespace capi
