// perm-mpi: a permanent, an estimate of one, numbers or samples of matchings, or terms of a periodic matrix,
// by all ranks of an MPI job. Rank 0 reads the file, and is the one that speaks.
#include "capi/command/answer.hpp"
#include "capi/command/commands.hpp"
#include "capi/command/job.hpp"
#include "capi/command/matrix_file.hpp"
#include "capi/command/options.hpp"
#include "capi/command/output.hpp"

#include <perm_mpi.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace perm;

const char *const footer = "To be started by mpirun or srun; every rank takes its share of its machine's "
                           "cores, or one of its GPUs.\n"
                           "Exit status: 0 answered, 1 the machine or the program failed, 2 bad input or "
                           "usage, 3 refused, 130 cancelled.";

class Mpi {
  public:
    Mpi(int &argc, char **&argv) {
        int provided = 0;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    }
    ~Mpi() {
        std::signal(SIGTERM, SIG_IGN); // which mpirun sends to all once one has ended with an error
        MPI_Finalize();
    }
    Mpi(const Mpi &) = delete;
    Mpi &operator=(const Mpi &) = delete;

    bool is_root() const { return rank_ == 0; }

    // What rank 0 says.
    int agreed(int code) const {
        MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
        return code;
    }

  private:
    int rank_ = 0;
};

// Of those that every rank throws alike; said by rank 0.
template <class Work> int said_by_root(const Mpi &mpi, bool json, const Work &work) {
    return guarded(
        [&]() -> int {
            work();
            return exit_answered;
        },
        [&](perm_status status, const std::string &text) -> int {
            return mpi.is_root() ? report_failure(status, text, json) : exit_code(status);
        });
}

// read() by rank 0 alone, before the others begin, then call(options, with progress) by all ranks, then
// tell(how long it took, how long reading) by rank 0.
template <class Read, class Call, class Tell>
int by_all(const Mpi &mpi, const Options &options, const Read &read, const Call &call, const Tell &tell) {
    const Stopwatch watch;
    const int code = mpi.agreed(said_by_root(mpi, options.json, [&] {
        if (mpi.is_root()) read();
    }));
    if (code != exit_answered) return code;
    const double seconds_read = watch.seconds();
    const int answered = said_by_root(mpi, options.json, [&] {
        const bool is_kept = mpi.is_root() && !options.checkpoint.empty();
        const Cancellable cancellable(is_kept ? finishing : nullptr);
        Progress progress(mpi.is_root() && !options.quiet);
        perm_opts opts = library_options(options);
        opts.progress = Progress::report;
        opts.progress_user = &progress;
        const perm_status status = call(opts);
        if (status != PERM_OK)
            throw Error(status, in_terms_of_file(perm_mpi_last_error(), options.file, options.format));
    });
    if (answered != exit_answered) return answered;
    return mpi.agreed(said_by_root(mpi, options.json, [&] {
        if (mpi.is_root()) tell(watch.seconds(), seconds_read);
    }));
}

const perm_csr *csr_or_null(const std::optional<Input> &input) { return input ? &input->csr() : nullptr; }

int compute(const Mpi &mpi, const Options &options) {
    std::optional<Input> input;
    Result result;
    return by_all(
        mpi, options, [&] { input.emplace(options); },
        [&](const perm_opts &opts) {
            return perm_mpi_compute(MPI_COMM_WORLD, csr_or_null(input), &opts, result.raw());
        },
        [&](double seconds, double seconds_read) {
            write_answer(
                options, input->name(), *result.raw(),
                {seconds, seconds_read, result->seconds_check, result->seconds_plan, result->seconds_run},
                "null");
        });
}

// As rank 0 makes a task: limits and a checkpoint are those of all ranks.
perm_opts options_of_task(const Options &options) {
    perm_opts opts = library_options(options);
    opts.time_limit_seconds = std::numeric_limits<double>::infinity();
    opts.checkpoint = nullptr;
    opts.checkpoint_seconds = 0;
    return opts;
}

// A task that rank 0 has, and what it comes to.
class TaskByAll {
  public:
    void take(Task task) {
        task_ = std::move(task);
        numbers_.assign(static_cast<std::size_t>(task_->results()), perm_result PERM_RESULT_INIT);
        check(perm_task_room(task_->raw(), &answer_));
        columns_.resize(static_cast<std::size_t>(answer_.columns_count));
        answer_.results = numbers_.data();
        answer_.estimate = &estimate_;
        answer_.columns = columns_.data();
    }
    perm_status run(const perm_opts &opts) const {
        return perm_mpi_run(MPI_COMM_WORLD, task_ ? task_->raw() : nullptr, &opts, &answer_);
    }
    const std::vector<std::int64_t> &columns() const { return columns_; }
    const perm_estimated &estimate() const { return estimate_; }
    std::vector<Result> results() const {
        std::vector<Result> results(numbers_.size());
        for (std::size_t k = 0; k < numbers_.size(); ++k) *results[k].raw() = numbers_[k];
        return results;
    }

  private:
    std::optional<Task> task_;
    std::vector<perm_result> numbers_;
    std::vector<std::int64_t> columns_;
    perm_estimated estimate_ = PERM_ESTIMATED_INIT;
    perm_answer answer_ = PERM_ANSWER_INIT;
};

enum class Wanted { estimate, matchings, samples };

Task task_of(const perm_csr &a, Wanted wanted, const Options &options) {
    const perm_opts opts = options_of_task(options);
    switch (wanted) {
    case Wanted::estimate:
        return Task::estimate(a, wanted_estimate(options), opts);
    case Wanted::matchings:
        return Task::matchings(a, opts);
    default:
        require_shots(options);
        return Task::samples(a, options.shots, options.seed, opts);
    }
}

int run_task(const Mpi &mpi, Wanted wanted, const Options &options) {
    std::optional<Input> input;
    TaskByAll task;
    return by_all(
        mpi, options,
        [&] {
            input.emplace(options);
            task.take(task_of(input->csr(), wanted, options));
        },
        [&](const perm_opts &opts) { return task.run(opts); },
        [&](double seconds, double) {
            const perm_csr &a = input->csr();
            if (wanted == Wanted::estimate) write_estimate(options, task.estimate(), a, seconds);
            if (wanted == Wanted::matchings) write_numbers(options, task.results(), "matchings", a, seconds);
            if (wanted == Wanted::samples) write_samples(options, task.columns(), a, seconds);
        });
}

int periodic(const Mpi &mpi, const Options &options) {
    std::optional<Periodic> plan;
    TaskByAll task;
    PeriodicAnswer answer;
    return by_all(
        mpi, options,
        [&] {
            const Lengths lengths = lengths_of(options);
            require_room(options);
            plan.emplace(periodic_plan(options, options_of_task(options)));
            answer.plan = plan->explain(options.json ? PERM_FORMAT_JSON : PERM_FORMAT_TEXT);
            task.take(Task::periodic(*plan, lengths.first, lengths.count));
        },
        [&](const perm_opts &opts) { return task.run(opts); },
        [&](double seconds, double seconds_read) {
            std::vector<Result> results = task.results();
            answer.seconds.plan = seconds_read;
            answer.seconds.run = seconds - seconds_read;
            answer.seconds.total = seconds;
            if (options.length)
                answer.result = std::move(results.front());
            else
                answer.terms = std::move(results);
            write_periodic(options, std::move(answer));
        });
}

int parse_and_run(int argc, char **argv, const Mpi &mpi) {
    Options options;
    CLI::App app("Exact permanents of sparse matrices by many processes.", "perm-mpi");
    app.footer(footer);
    app.require_subcommand(1, 1);
    app.set_version_flag("--version", std::string("perm-mpi ") + perm_version());
    CLI::App *computing = app.add_subcommand("compute", "Compute the permanent of the matrix of a file");
    CLI::App *estimating = app.add_subcommand(
        "estimate", "Estimate the permanent of the matrix of a file from samples, with a guarantee");
    CLI::App *matching = app.add_subcommand(
        "matchings", "Count the matchings with 0, 1, 2, ... entries of the matrix of a file");
    CLI::App *repeating =
        app.add_subcommand("periodic", "Permanents of a matrix of equal cells, of any number of them");
    CLI::App *sampling =
        app.add_subcommand("sample", "Draw matchings of the matrix of a file with their exact probabilities");
    const std::pair<CLI::App *, unsigned> all[] = {{computing, subcommand::mpi_compute},
                                                   {estimating, subcommand::mpi_estimate},
                                                   {matching, subcommand::mpi_matchings},
                                                   {repeating, subcommand::mpi_periodic},
                                                   {sampling, subcommand::mpi_sample}};
    for (const auto &[command, which] : all) {
        command->footer(footer);
        add_options(*command, which, options);
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp &) {
        if (mpi.is_root()) write_stdout(app.help());
        return exit_answered;
    } catch (const CLI::CallForVersion &version) {
        if (mpi.is_root()) write_stdout(version.what());
        return exit_answered;
    } catch (const CLI::ParseError &error) {
        const bool json =
            std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--json"; });
        const auto asked = app.get_subcommands();
        const std::string name = asked.empty() ? "compute" : asked.front()->get_name();
        const std::string text = std::string(error.what()) + " (see perm-mpi " + name + " --help)";
        return mpi.is_root() ? report_failure(PERM_BAD_OPTION, text, json) : exit_bad_input;
    }
    perm_set_log_level(options.log_level());
    return *estimating  ? run_task(mpi, Wanted::estimate, options)
           : *matching  ? run_task(mpi, Wanted::matchings, of_matchings(options))
           : *repeating ? periodic(mpi, options)
           : *sampling  ? run_task(mpi, Wanted::samples, of_matchings(options))
                        : compute(mpi, options);
}

} // namespace

int main(int argc, char **argv) {
    catch_signals();
    // What mpirun hands on, as it does not SIGTERM for long.
    std::signal(SIGUSR1, [](int) { std::raise(SIGTERM); });
    try {
        const Mpi mpi(argc, argv);
        return parse_and_run(argc, argv, mpi);
    } catch (const std::exception &error) {
        write_message(error.what());
        return exit_failed;
    }
}
