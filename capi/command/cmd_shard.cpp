// Parts of the work, as jobs of an array: run, and put together.

#include "answer.hpp"
#include "commands.hpp"
#include "job.hpp"
#include "lib/base/durable_file.hpp"
#include "lib/base/json.hpp"
#include "options.hpp"
#include "output.hpp"
#include "part_file.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <limits>
#include <mutex>
#include <optional>
#include <perm.hpp>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace perm {
namespace {

using libperm::KeptFile;

// The output file is there, and it is something else.
void fail_other(const Options &options, const Part &found, const std::string &what) {
    throw Error(PERM_BAD_OPTION,
                fmt::format("{} is there, begun with {}: {}; name another file, or remove {} to begin anew",
                            options.output, found.matrix, what, libperm::those_kept(options.output)));
}

constexpr double default_pause = 60; // between two writes
constexpr double to_finish = 10;     // seconds that shards under way have

// The shards of one index, one after the other or as many at once as there are threads, kept in its file.
class ShardRun {
  public:
    // Loads the part's task, or makes it. The time limit counts from the start of the watch.
    ShardRun(const Options &options, const Input &input, KeptFile<Part> &part, const Stopwatch &watch)
        : options_(options),
          input_(input),
          part_(part),
          watch_(watch),
          progress_(!options.quiet),
          task_(begun()) {
        std::set<std::uint64_t> known;
        for (const Part::OfShard &shard : part.content.shards) known.insert(shard.number);
        const std::int64_t of = part.content.of, index = part.content.index, shards = task_->shards();
        const std::int64_t last = first_shard(shards, of, index + 1);
        for (std::int64_t k = first_shard(shards, of, index); k < last; ++k, ++size_)
            if (!known.contains(static_cast<std::uint64_t>(k))) todo_.push_back(k);
        done_ = size_ - std::ssize(todo_);
        begun_at_ = written_at_ = watch.seconds();
    }

    ShardRun(const ShardRun &) = delete;
    ShardRun &operator=(const ShardRun &) = delete;

    std::int64_t shards() const { return task_->shards(); } // of all parts
    std::int64_t size() const { return size_; }             // shards of the part
    bool is_done() const { return done_ == size_; }

    // Those that are not done, until a signal or the time limit; those under way then have ten seconds more.
    // All that is done is in the file when it returns or throws Error.
    void run() {
        if (todo_.empty()) return;
        const int count = runners();
        if (count > 1) task_ = loaded(1);
        expected_ = task_->shard_seconds() * static_cast<double>(todo_.size()) / count;
        has_begun_ = true;
        {
            std::vector<std::jthread> others;
            for (int k = 1; k < count; ++k) others.emplace_back([this] { work(); });
            work();
        }
        if (failure_ && part_.content.shards.empty()) { // another time it may be planned otherwise
            std::remove(options_.output.c_str());
            forget_previous(options_.output);
        } else {
            write();
        }
        if (failure_) std::rethrow_exception(failure_);
        if (!is_done()) fail_stopped();
    }

  private:
    perm_opts opts(int threads) {
        perm_opts opts = library_options(options_);
        opts.threads = threads;
        opts.time_limit_seconds = std::numeric_limits<double>::infinity(); // that of all is seen to here
        opts.cancel = [](void *self) { return static_cast<ShardRun *>(self)->is_to_break_off(); };
        opts.cancel_user = this;
        opts.progress = [](double, double, void *self) { static_cast<ShardRun *>(self)->report(); };
        opts.progress_user = this;
        return opts;
    }

    // What is made of the options, whatever was planned before, is held against what the part was begun with.
    Task begun() {
        std::string &kept = part_.content.task;
        const bool is_new = kept.empty();
        try {
            std::optional<Task> made;
            if (options_.estimate)
                made = Task::estimate(input_.csr(), wanted_estimate(options_), opts(options_.threads));
            if (options_.matchings) made = Task::matchings(input_.csr(), opts(options_.threads));
            const bool is_planned = !made && (is_new || !options_.plan.empty());
            const std::string asked = made ? made->save() : is_planned ? planned() : kept;
            if (is_new) kept = asked;
            if (kept != asked)
                fail_other(options_, part_.content,
                           "it is of another matrix, task or plan, or with other options");
            if (made) return std::move(*made);
            Task task = loaded(options_.threads);
            if (!is_new) require_asked(task);
            return task;
        } catch (const Error &error) {
            if (error.status() != PERM_CANCELLED) throw;
            is_stopping();
            throw Error(static_cast<perm_status>(status_.load()),
                        why_stopped() + " before a shard was begun");
        }
    }

    Task loaded(int threads) {
        return of_file(options_.output, [&] { return Task::load(part_.content.task, opts(threads)); });
    }

    // A computation, of this matrix.
    void require_asked(const Task &task) {
        const auto about = libperm::Json::read(task.explain(PERM_FORMAT_JSON));
        if (const libperm::Json *kind = about.find("task"))
            fail_other(options_, part_.content, "it is of " + kind->text());
        const std::string &kept = part_.content.task;
        const Plan plan = Plan::load(kept, opts(options_.threads));
        if (perm_plan_check_matrix(plan.raw(), &input_.csr()) != PERM_OK)
            fail_other(options_, part_.content, perm_last_error());
        if (Task::plan(plan, input_.csr().values).save() != kept)
            fail_other(options_, part_.content, "it is of other values");
    }

    // A plan's task, for which the time limit does not count: it is the shards'.
    std::string planned() {
        perm_opts to_plan = opts(options_.threads);
        to_plan.cancel = Cancellable::requested;
        return Task::plan(make_plan(options_, input_, to_plan), input_.csr().values).save();
    }

    // How many shards at a time are quickest. One of a frontier, or on a GPU, has work for all threads, as
    // one of what is no plan; another for one.
    int runners() const {
        const auto about = libperm::Json::read(task_->explain(PERM_FORMAT_JSON));
        if (about.find("task") || about.at("device") != "cpu" || about.at("engine") == "frontier") return 1;
        return static_cast<int>(std::min<std::int64_t>(std::ssize(todo_), about.integer("threads")));
    }

    void work() {
        try {
            while (!is_stopping()) {
                const std::size_t k = next_++;
                if (k >= todo_.size()) return;
                keep(task_->run_shard(todo_[k]));
            }
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (status_ != PERM_OK) return; // broken off
            failure_ = std::current_exception();
            stop(PERM_INTERNAL);
        }
    }

    void keep(const std::string &partial) {
        Part one = read_part("a shard", partial);
        const std::lock_guard lock(mutex_);
        Part &part = part_.content;
        part.kind = std::move(one.kind);
        part.digests = std::move(one.digests);
        part.shards.push_back(std::move(one.shards.front()));
        ++done_;
        const double pause = options_.checkpoint_seconds > 0 ? options_.checkpoint_seconds : default_pause;
        if (watch_.seconds() - written_at_ < pause) return;
        try {
            write();
        } catch (const std::runtime_error &error) { // there may be room by the next time
            write_message(fmt::format("warning: {}; what was written before stays", error.what()));
        }
        written_at_ = watch_.seconds();
    }

    void write() {
        write_part_file(options_.output, part_.content, part_.is_previous);
        part_.is_previous = false;
    }

    std::string why_stopped() const {
        if (status_ == PERM_CANCELLED) return "cancelled";
        return fmt::format("stopped at the time limit of {}", in_words(options_.time_limit_seconds));
    }

    [[noreturn]] void fail_stopped() const {
        throw Error(
            static_cast<perm_status>(status_.load()),
            fmt::format("{}; {} of {} shards are done and in {}: the same command goes on from there{}",
                        why_stopped(), done_, size_, options_.output, options_.how_to_go_on()));
    }

    void stop(perm_status status) {
        int none = PERM_OK;
        const double now = watch_.seconds();
        if (status_.compare_exchange_strong(none, status)) stopped_at_ = now;
    }

    bool is_stopping() {
        if (status_ == PERM_OK && Cancellable::requested(nullptr)) stop(PERM_CANCELLED);
        if (options_.time_limit_seconds > 0 && watch_.seconds() > options_.time_limit_seconds)
            stop(PERM_REFUSED_TIME);
        return status_ != PERM_OK;
    }

    int is_to_break_off() {
        if (!is_stopping()) return 0;
        const bool spares_shards = has_begun_ && status_ != PERM_INTERNAL;
        return !spares_shards || watch_.seconds() - stopped_at_ > to_finish;
    }

    // By one shard's thread or another's: the shards count, all being of about the same size.
    void report() {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock || size_ == 0) return;
        const double done = static_cast<double>(done_), all = static_cast<double>(size_);
        const double to_do = static_cast<double>(todo_.size()), run = to_do - (all - done);
        const double elapsed = watch_.seconds() - begun_at_;
        const double left = run > 0 ? elapsed * (all - done) / run : std::max(0.0, expected_ - elapsed);
        Progress::report(done / all, left, &progress_);
    }

    const Options &options_;
    const Input &input_;
    KeptFile<Part> &part_;
    const Stopwatch &watch_;
    Cancellable cancellable_{finishing};
    Progress progress_;
    std::mutex mutex_; // of the part, the progress and the failure
    std::exception_ptr failure_;
    std::int64_t size_ = 0, done_ = 0; // shards
    std::vector<std::int64_t> todo_;
    std::atomic<std::size_t> next_{0};                                        // of these
    std::atomic<bool> has_begun_ = false;                                     // shards may be under way
    std::atomic<int> status_{PERM_OK};                                        // to stop with
    std::atomic<double> stopped_at_{std::numeric_limits<double>::infinity()}; // by the watch
    double begun_at_ = 0, written_at_ = 0;                                    // by the watch
    double expected_ = 0;                                                     // seconds for all to do
    std::optional<Task> task_;                                                // the last: it calls back
};

// The part as far as it was done before, or a new one.
KeptFile<Part> begun_part(const Options &options, const Input &input) {
    if (std::optional<KeptFile<Part>> found = read_begun_part(options.output)) {
        const Part &part = found->content;
        if (part.of != options.of || part.index != options.index)
            fail_other(options, part, fmt::format("it is index {} of {}", part.index, part.of));
        return std::move(*found);
    }
    require_folder_of(options.output);
    Part part;
    part.matrix = input.name();
    part.n_rows = input.csr().n_rows;
    part.n_cols = input.csr().n_cols;
    part.nnz = input.csr().nnz;
    part.of = options.of;
    part.index = options.index;
    return {std::move(part)};
}

} // namespace

void run_shard(const Options &given) {
    const Options options = given.matchings ? of_matchings(given) : given;
    if (options.of < 1)
        throw Error(PERM_BAD_OPTION, fmt::format("--of {}: there is 1 part at least", options.of));
    if (options.index < 0 || options.index >= options.of)
        throw Error(PERM_BAD_OPTION, fmt::format("--index {} of --of {}: the parts are numbered from 0 to {}",
                                                 options.index, options.of, options.of - 1));
    const Stopwatch watch;
    const Input input(options);
    KeptFile<Part> part = begun_part(options, input);
    ShardRun run(options, input, part, watch);
    if (!libperm::exists(options.output)) write_part_file(options.output, part.content);
    const bool was_done = run.is_done() && run.size() > 0;
    run.run();
    forget_previous(options.output);
    if (options.quiet) return;
    if (run.size() == 0)
        return write_stdout(fmt::format("{}: index {} of {} is done: it has nothing to do, for there {} {} "
                                        "shard{} in all (--of {} is as good)",
                                        options.output, options.index, options.of,
                                        run.shards() == 1 ? "is" : "are", run.shards(),
                                        run.shards() == 1 ? "" : "s", run.shards()));
    write_stdout(fmt::format("{}: index {} of {} {}: {} of {} {} shards", options.output, options.index,
                             options.of, was_done ? "was done before" : "is done", run.size(),
                             options.estimate    ? "the estimate's"
                             : options.matchings ? "the numbers'"
                                                 : "the plan's",
                             run.shards()));
}

namespace {

class Parts {
  public:
    explicit Parts(const std::vector<std::string> &files) {
        for (const std::string &file : files) add(file);
        if (files_.empty()) throw Error(PERM_BAD_ARGUMENT, "there is no part to combine");
    }

    const Part &first() const { return first_; }
    // Of one of them, which needs no other.
    Task task(const perm_opts &opts) const {
        return of_file(files_.front().name, [&] { return Task::load(first_.task, opts); });
    }

    // combined(the parts); what is wrong with them is told of the files.
    template <class Combined> auto combine(const Task &task, const Combined &combined) const {
        try {
            return combined(bytes_);
        } catch (const Error &error) {
            if (const std::size_t bad = refused(error.what()); bad < files_.size()) fail_foreign(bad, error);
            if (error.status() == PERM_BAD_ARGUMENT) require_complete(task.shards());
            throw;
        }
    }

  private:
    struct File {
        std::string name, matrix;
    };

    void add(const std::string &file) {
        if (file.ends_with(".writing")) return; // what a crash left of a write
        bytes_.push_back(of_file(file, [&] { return libperm::read_file(file); }));
        Part part = read_part(file, bytes_.back());
        for (const Part::OfShard &shard : part.shards) done_.insert(shard.number);
        begun_.insert(part.index);
        files_.push_back({file, part.matrix});
        part.shards.clear();
        if (files_.size() == 1)
            first_ = std::move(part);
        else if (part.of != first_.of)
            throw Error(PERM_BAD_ARGUMENT,
                        fmt::format("{} is of another division, --of {} rather than {}, than {}", file,
                                    part.of, first_.of, files_.front().name));
    }

    // Which partial result the library's text is about; else more than there are.
    static std::size_t refused(std::string_view text) {
        constexpr std::string_view beginning = "partial result ";
        std::size_t number = std::numeric_limits<std::size_t>::max();
        if (text.starts_with(beginning))
            std::from_chars(text.data() + beginning.size(), text.data() + text.size(), number);
        return number;
    }

    [[noreturn]] void fail_foreign(std::size_t bad, const Error &error) const {
        throw Error(
            error.status(),
            fmt::format("{}, begun with {}: {}. All parts are to be made as {} was: of one matrix, "
                        "--decimal or not, with the same options and the same plan, which machines may "
                        "make otherwise: save one with perm plan, and run all indexes with --plan",
                        files_[bad].name, files_[bad].matrix, error.what(), files_.front().name));
    }

    void require_complete(std::int64_t shards) const {
        std::vector<std::int64_t> missing, unfinished;
        for (std::int64_t shard = 0; shard < shards; ++shard) {
            const std::int64_t k = index_of(shard, shards, first_.of);
            if (done_.contains(static_cast<std::uint64_t>(shard))) continue;
            if (!missing.empty() && missing.back() == k) continue;
            missing.push_back(k);
            if (begun_.contains(k)) unfinished.push_back(k);
        }
        if (missing.empty()) return;
        std::string text = fmt::format("missing: {} of {}", in_ranges(missing), first_.of);
        if (!unfinished.empty()) text += fmt::format(" (begun and not finished: {})", in_ranges(unfinished));
        throw Error(PERM_BAD_ARGUMENT, text + ": run perm shard with these, and combine all");
    }

    // "3, 7-9".
    static std::string in_ranges(const std::vector<std::int64_t> &numbers) {
        std::string text;
        for (std::size_t first = 0, last = 0; first < numbers.size(); first = last + 1) {
            for (last = first; last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1;) ++last;
            text += (text.empty() ? "" : ", ") + fmt::to_string(numbers[first]);
            if (last > first) text += (last > first + 1 ? "-" : ", ") + fmt::to_string(numbers[last]);
        }
        return text;
    }

    Part first_; // but for its shards
    std::vector<File> files_;
    std::vector<std::string> bytes_;
    std::set<std::uint64_t> done_; // shards
    std::set<std::int64_t> begun_; // indexes
};

// What the parts come to.
struct Combined {
    std::vector<Result> results;
    perm_estimated estimate = PERM_ESTIMATED_INIT;
    std::string explanation; // of the task, in JSON
    double seconds_plan = 0;
};

Combined combined(const Options &options, const Parts &parts) {
    const Cancellable cancellable;
    Progress progress(!options.quiet);
    Combined all;
    const Stopwatch watch;
    const Task task = parts.task(library_options(options, progress));
    all.seconds_plan = watch.seconds();
    all.explanation = task.explain(PERM_FORMAT_JSON);
    if (task.results() == 0)
        all.estimate = parts.combine(task, [&](const auto &some) { return task.combine_estimate(some); });
    else
        all.results = parts.combine(task, [&](const auto &some) { return task.combine(some); });
    return all;
}

} // namespace

void run_combine(const Options &given) {
    Options options = given;
    // The work was worth its time already.
    if (options.time_limit_seconds == 0) options.time_limit_seconds = std::numeric_limits<double>::infinity();
    const Stopwatch watch;
    const Parts parts(options.parts);
    const double seconds_read = watch.seconds();
    Combined all = combined(options, parts);
    perm_csr shape = PERM_CSR_INIT;
    shape.n_rows = parts.first().n_rows;
    shape.n_cols = parts.first().n_cols;
    shape.nnz = parts.first().nnz;
    if (all.results.empty()) return write_estimate(options, all.estimate, shape, watch.seconds());
    const libperm::Json told = libperm::Json::read(all.explanation);
    if (told.find("task")) return write_numbers(options, all.results, "matchings", shape, watch.seconds());
    if (const libperm::Json *function = told.find("function")) options.function = function->text();
    const perm_result &r = *all.results.front().raw();
    const Seconds seconds{watch.seconds(), seconds_read, r.seconds_check, all.seconds_plan, r.seconds_run};
    write_answer(options, parts.first().matrix, r, seconds, all.explanation);
}

} // namespace perm
