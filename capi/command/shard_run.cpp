#include "shard_run.hpp"

#include "estimate_answer.hpp"
#include "output.hpp"

#include "lib/base/durable_file.hpp"
#include "lib/base/json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>
#include <thread>
#include <utility>

namespace perm {
namespace {

constexpr double to_finish = 10;     // seconds that shards under way have
constexpr double default_pause = 60; // between two writes

} // namespace

void fail_other(const Options &options, const Part &found, const std::string &what) {
    throw Error(PERM_BAD_OPTION,
                fmt::format("{} is there, begun with {}: {}; name another file, or remove {} to begin anew",
                            options.output, found.matrix, what, libperm::those_kept(options.output)));
}

ShardRun::ShardRun(const Options &options, const Input &input, libperm::KeptFile<Part> &part,
                   const Stopwatch &watch)
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

perm_opts ShardRun::opts(int threads) {
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
Task ShardRun::begun() {
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
        throw Error(static_cast<perm_status>(status_.load()), why_stopped() + " before a shard was begun");
    }
}

// A plan's task, for which the time limit does not count: it is the shards'.
std::string ShardRun::planned() {
    perm_opts to_plan = opts(options_.threads);
    to_plan.cancel = Cancellable::requested;
    return Task::plan(make_plan(options_, input_, to_plan), input_.csr().values).save();
}

Task ShardRun::loaded(int threads) {
    return of_file(options_.output, [&] { return Task::load(part_.content.task, opts(threads)); });
}

// A computation, of this matrix.
void ShardRun::require_asked(const Task &task) const {
    if (perm_task_check_matrix(task.raw(), &input_.csr()) != PERM_OK)
        fail_other(options_, part_.content, perm_last_error());
    const auto about = libperm::Json::read(task.explain(PERM_FORMAT_JSON));
    if (const libperm::Json *kind = about.find("task"))
        fail_other(options_, part_.content, "it is of " + kind->text());
}

// How many shards at a time are quickest. One of a frontier, or on a GPU, has work for all threads, as one of
// what is no plan; another for one.
int ShardRun::runners() const {
    const auto about = libperm::Json::read(task_->explain(PERM_FORMAT_JSON));
    if (about.find("task") || about.at("device") != "cpu" || about.at("engine") == "frontier") return 1;
    return static_cast<int>(std::min<std::int64_t>(std::ssize(todo_), about.integer("threads")));
}

void ShardRun::run() {
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

void ShardRun::work() {
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

void ShardRun::keep(const std::string &partial) {
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

void ShardRun::write() {
    write_part_file(options_.output, part_.content, part_.is_previous);
    part_.is_previous = false;
}

std::string ShardRun::why_stopped() const {
    if (status_ == PERM_CANCELLED) return "cancelled";
    return fmt::format("stopped at the time limit of {}", in_words(options_.time_limit_seconds));
}

void ShardRun::fail_stopped() const {
    throw Error(static_cast<perm_status>(status_.load()),
                fmt::format("{}; {} of {} shards are done and in {}: the same command goes on from there{}",
                            why_stopped(), done_, size_, options_.output, how_to_go_on(options_)));
}

void ShardRun::stop(perm_status status) {
    int none = PERM_OK;
    const double now = watch_.seconds();
    if (status_.compare_exchange_strong(none, status)) stopped_at_ = now;
}

bool ShardRun::is_stopping() {
    if (status_ == PERM_OK && Cancellable::requested(nullptr)) stop(PERM_CANCELLED);
    if (options_.time_limit_seconds > 0 && watch_.seconds() > options_.time_limit_seconds)
        stop(PERM_REFUSED_TIME);
    return status_ != PERM_OK;
}

int ShardRun::is_to_break_off() {
    if (!is_stopping()) return 0;
    const bool spares_shards = has_begun_ && status_ != PERM_INTERNAL;
    return !spares_shards || watch_.seconds() - stopped_at_ > to_finish;
}

// By one shard's thread or another's: the shards count, all being of about the same size.
void ShardRun::report() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || size_ == 0) return;
    const double done = static_cast<double>(done_), all = static_cast<double>(size_);
    const double to_do = static_cast<double>(todo_.size()), run = to_do - (all - done);
    const double elapsed = watch_.seconds() - begun_at_;
    const double left = run > 0 ? elapsed * (all - done) / run : std::max(0.0, expected_ - elapsed);
    Progress::report(done / all, left, &progress_);
}

} // namespace perm
