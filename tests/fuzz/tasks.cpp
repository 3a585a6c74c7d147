// Saved tasks of every kind with anything behind a right seal: loaded, described, run, and a shard of them.
#include "tests/fuzz/inputs.hpp"
#include "tests/fuzz/sealed.hpp"

#include <perm.hpp>

#include <cmath>
#include <vector>

namespace {

constexpr std::int64_t most_results = 1 << 12;

const std::vector<std::string> &genuine() {
    static const std::vector<std::string> all = [] {
        const fuzz::Band band;
        const perm_opts opts = fuzz::limited();
        perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
        wanted.epsilon = 0.5;
        perm_opts by_plan = opts;
        by_plan.engine = "frontier";
        const perm::Plan plan(band.csr, opts);
        std::vector<double> positive = band.values;
        for (double &x : positive) x = std::fabs(x) + 0.1;
        perm_csr nonnegative = band.csr;
        nonnegative.values = positive.data();
        perm_opts walked = opts; // no frontier fits
        walked.memory_limit_bytes = 1000;
        perm_dense dense = PERM_DENSE_INIT;
        const double entries[] = {1, 2, 3, 4, 5, 6};
        dense.n_rows = 3;
        dense.n_cols = 2;
        dense.values = entries;
        const perm::Csr cell = perm::lattice_cell("grid:2");
        perm_csr wide = band.csr;
        wide.n_cols = 20000; // with a free line for each row that is missing, memory has no room for it
        perm_opts exact = opts;
        exact.precision = "exact";
        const perm::Periodic repeated(cell.view(), false, exact), ring(cell.view(), true, opts);
        return std::vector<std::string>{perm::Task::plan(plan, band.csr.values).save(),
                                        perm::Task::gradient(plan, band.csr.values).save(),
                                        perm::Task::minors(dense).save(),
                                        perm::Task::estimate(band.csr, wanted, opts).save(),
                                        perm::Task::matchings(band.csr, opts).save(),
                                        perm::Task::matchings(band.csr, by_plan).save(),
                                        perm::Task::matchings(wide, opts).save(),
                                        perm::Task::periodic(repeated, 200, 2).save(),
                                        perm::Task::periodic(ring, 5, 3).save(),
                                        perm::Task::samples(nonnegative, 5, 1, opts).save(),
                                        perm::Task::samples(nonnegative, 5, 1, walked).save(),
                                        perm::Task::batch(plan, band.csr.values, 0, 3).save()};
    }();
    return all;
}

void run(const perm_task *task) {
    std::int64_t shards = 0, results = 0;
    std::size_t needed = 0;
    fuzz::require(perm_task_shards(task, &shards, nullptr, &results) == PERM_OK && shards > 0, "no shard");
    fuzz::require(perm_task_explain(task, PERM_FORMAT_JSON, nullptr, 0, &needed) != PERM_INTERNAL,
                  perm_last_error());
    fuzz::require(perm_task_save(task, nullptr, 0, &needed) == PERM_OK, perm_last_error());
    perm_partial partial = PERM_PARTIAL_INIT;
    fuzz::require(perm_task_run_shard(task, 0, &partial) != PERM_INTERNAL, perm_last_error());
    perm_partial_clear(&partial);
    perm_answer answer = PERM_ANSWER_INIT;
    fuzz::require(perm_task_room(task, &answer) == PERM_OK && answer.count == results, "another room");
    if (results > most_results || answer.numbers_count > most_results || answer.columns_count > most_results)
        return;
    std::vector<perm_result> all(static_cast<std::size_t>(results), perm_result PERM_RESULT_INIT);
    std::vector<double> numbers(static_cast<std::size_t>(answer.numbers_count));
    std::vector<std::int64_t> columns(static_cast<std::size_t>(answer.columns_count));
    perm_estimated estimate = PERM_ESTIMATED_INIT;
    answer.columns = columns.data();
    answer.results = all.data();
    answer.numbers = numbers.data();
    answer.estimate = &estimate;
    fuzz::require(perm_task_run(task, &answer) != PERM_INTERNAL, perm_last_error());
    for (perm_result &result : all) perm_result_clear(&result);
}

} // namespace

void fuzz::run(std::string_view input) {
    Bytes bytes(input);
    const std::string &like = genuine()[bytes.bits(1) % genuine().size()];
    const std::string changed = sealed_like(like, std::string(bytes.rest()));
    perm_opts opts = limited();
    opts.time_limit_seconds = 1;
    perm_task *task = nullptr;
    const perm_status status = perm_task_load(changed.data(), changed.size(), &opts, &task);
    if (status == PERM_INTERNAL) fail(perm_last_error());
    require((status == PERM_OK) == (task != nullptr), "a task, or a failure, but not both");
    if (task) ::run(task);
    perm_task_destroy(task);
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> inputs;
    for (std::size_t k = 0; k < genuine().size(); ++k)
        inputs.push_back(std::string(1, static_cast<char>(k)) + payload_of(genuine()[k]));
    return inputs;
}
