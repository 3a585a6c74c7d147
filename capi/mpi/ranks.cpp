#include "capi/mpi/ranks.hpp"

#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/log.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace libperm::mpi {
namespace {

// Until start(request) is done, asleep between two looks: longer and longer while it is not.
template <class Start> void wait_for(const Start &start) {
    constexpr std::chrono::microseconds shortest{50}, longest{5000};
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(start(&request));
    for (std::chrono::microseconds pause = shortest;; pause = std::min(2 * pause, longest)) {
        int done = 0;
        check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (done) return;
        std::this_thread::sleep_for(pause);
    }
}

// MPI's messages hold less than 2^31 of anything: longer bytes go in pieces.
template <class Start> void in_pieces(std::string &bytes, const Start &start) {
    constexpr std::size_t most = std::size_t{1} << 30;
    for (std::size_t at = 0; at < bytes.size(); at += most)
        wait_for([&](MPI_Request *request) {
            return start(bytes.data() + at, static_cast<int>(std::min(bytes.size() - at, most)), request);
        });
}

} // namespace

void check_mpi(int code) {
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw Error(PERM_INTERNAL, formatted("MPI failed: {}", text.data()));
}

Communicator::Communicator(MPI_Comm comm) {
    check_mpi(MPI_Comm_dup(comm, &comm_));
    begin();
}

Communicator::Communicator(MPI_Comm whole, int rank) {
    check_mpi(MPI_Comm_split_type(whole, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm_));
    begin();
}

void Communicator::begin() {
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
    check_mpi(MPI_Comm_rank(comm_, &rank_));
    check_mpi(MPI_Comm_size(comm_, &size_));
}

Communicator::~Communicator() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void Communicator::gather(const void *own, void *all, int bytes) const {
    wait_for([&](MPI_Request *request) {
        return MPI_Iallgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm_, request);
    });
}

void Communicator::broadcast(std::string &bytes, int from) const {
    const std::size_t size = all_of(bytes.size())[static_cast<std::size_t>(from)];
    agree(failure_of([&] { bytes.resize(size); }));
    in_pieces(bytes, [&](char *piece, int count, MPI_Request *request) {
        return MPI_Ibcast(piece, count, MPI_BYTE, from, comm_, request);
    });
}

void Communicator::agree(const std::optional<Failure> &own) const {
    const std::vector<perm_status> all = all_of(own ? own->status : PERM_OK);
    const auto failing = std::ranges::find_if(all, [](perm_status status) { return status != PERM_OK; });
    if (failing == all.end()) return;
    const int first = static_cast<int>(failing - all.begin());
    std::string text = own ? own->text : "";
    broadcast(text, first);
    throw Error(*failing, first == 0 ? text : formatted("rank {}: {}", first, text));
}

void Communicator::send(std::string &bytes) const {
    in_pieces(bytes, [&](const char *piece, int count, MPI_Request *request) {
        return MPI_Isend(piece, count, MPI_BYTE, 0, 0, comm_, request);
    });
}

std::string Communicator::receive(int from, std::int64_t size) const {
    std::string bytes(static_cast<std::size_t>(size), '\0');
    in_pieces(bytes, [&](char *piece, int count, MPI_Request *request) {
        return MPI_Irecv(piece, count, MPI_BYTE, from, 0, comm_, request);
    });
    return bytes;
}

namespace {

// A rank whose GPU fails, or whose memory does not suffice, is left out: its shards run elsewhere.
bool is_left_out(perm_status status) { return status == PERM_GPU_FAILED || status == PERM_OUT_OF_MEMORY; }

} // namespace

Schedule::Schedule(std::set<std::int64_t> missing, int ranks)
    : ranks_(static_cast<std::size_t>(ranks)),
      waiting_(std::move(missing)),
      all_(waiting_.size()),
      left_(all_) {}

void Schedule::take(const std::vector<Report> &reports) {
    is_any_busy_ = false;
    for (std::size_t k = 0; k < ranks_.size(); ++k) take(ranks_[k], reports[k]);
    if (std::ranges::all_of(ranks_, &Rank::is_left_out)) stop_ = Stop::abort;
    if (stop_ != Stop::no) return;
    for (std::size_t k = 0; k < ranks_.size(); ++k) {
        Rank &rank = ranks_[k];
        while (!rank.is_left_out && !waiting_.empty() && std::ssize(rank.has) < reports[k].target) {
            const std::int64_t shard = waiting_.extract(waiting_.begin()).value();
            rank.has.push_back(shard);
            rank.given.push_back(shard);
        }
    }
}

void Schedule::take(Rank &rank, const Report &report) {
    rank.given.clear();
    rank.has.erase(rank.has.begin(), rank.has.begin() + report.finished);
    rank.fraction = report.fraction;
    left_ -= static_cast<std::size_t>(report.finished);
    is_any_busy_ = is_any_busy_ || report.is_busy;
    stop_ = std::max(stop_, report.stop);
    if (is_left_out(report.status)) {
        rank.is_left_out = true;
        waiting_.insert(rank.has.begin(), rank.has.end());
        rank.has.clear();
    } else if (report.status != PERM_OK && report.status != PERM_CANCELLED)
        stop_ = Stop::abort;
}

double Schedule::done() const {
    auto done = static_cast<double>(all_ - left_);
    for (const Rank &rank : ranks_) done += rank.fraction;
    return std::min(done, static_cast<double>(all_));
}

Worker::Worker(const std::string &task, perm_opts opts) {
    opts.progress = [](double fraction, double, void *worker) {
        static_cast<Worker *>(worker)->fraction_ = fraction;
    };
    opts.cancel = [](void *worker) -> int { return static_cast<Worker *>(worker)->aborted_; };
    opts.progress_user = opts.cancel_user = this;
    task_.emplace(perm::Task::load(task, opts));
    seconds_ = task_->shard_seconds();
    thread_ = std::jthread([this](const std::stop_token &closed) { work(closed); });
}

Worker::~Worker() { take({}, Stop::abort); }

void Worker::work(const std::stop_token &closed) {
    using Clock = std::chrono::steady_clock;
    std::unique_lock lock(mutex_);
    while (given_.wait(lock, closed, [this] { return !queue_.empty(); })) {
        const std::int64_t shard = queue_.front();
        fraction_ = 0;
        lock.unlock();
        const Clock::time_point start = Clock::now();
        std::string part;
        const auto failure = failure_of([&] { part = task_->run_shard(shard); });
        const double took = std::chrono::duration<double>(Clock::now() - start).count();
        lock.lock();
        seconds_ = took;
        queue_.pop_front();
        if (!failure) {
            parts_.push_back(std::move(part));
            continue;
        }
        // One that was aborted came to nothing, and whoever failed gives the others back.
        queue_.clear();
        has_failed_ = true;
        if (!aborted_) failure_ = failure;
    }
}

// Enough for a twentieth of a second, in which there are some rounds. Where a shard takes much longer, an
// idle moment is nothing, and another rank may have it sooner.
std::int64_t Worker::reserve() const {
    constexpr double long_shard = 1, moment = 0.05, most = 64;
    if (seconds_ > long_shard) return 0;
    return static_cast<std::int64_t>(std::clamp(std::ceil(moment / seconds_), 1.0, most));
}

Report Worker::report(Told &told) {
    const std::lock_guard lock(mutex_);
    Report report;
    told.parts = std::exchange(parts_, {});
    report.finished = std::ssize(told.parts);
    report.is_busy = !queue_.empty();
    report.target = 1 + reserve();
    if (report.is_busy) report.fraction = std::clamp(fraction_.load(), 0.0, 1.0);
    if (const auto failure = std::exchange(failure_, {})) {
        report.status = failure->status;
        told.text = failure->text;
    }
    return report;
}

void Worker::take(const Schedule::Shards &given, Stop stop) {
    const std::lock_guard lock(mutex_);
    if (!has_failed_) queue_.insert(queue_.end(), given.begin(), given.end());
    if (stop != Stop::no && queue_.size() > 1) queue_.resize(1);
    if (stop == Stop::abort) aborted_ = true;
    given_.notify_one();
}

void Collector::fail(std::optional<Failure> why, Stop stop) {
    if (!why) return;
    stop_ = std::max(stop_, stop);
    if (failure_) return;
    failure_ = std::move(why);
    stopped_ = Clock::now();
    fail(failure_of(write_now_), Stop::abort); // the launcher may leave no time for more
}

// Shards that are running are given time where what they come to is kept.
Stop Collector::poll(double done) {
    constexpr std::chrono::seconds patience{10};
    const double more = std::max(0.0, done - told_);
    told_ += more;
    fail(failure_of([&] { control_.advance(more); }), Stop::finish);
    if (failure_ && (!store_.spares_pieces() || Clock::now() - stopped_ > patience)) stop_ = Stop::abort;
    return stop_;
}

void Collector::take(int rank, const Report &report, Told told, const Schedule::Shards &shards) {
    const auto lost = failure_of([&] {
        for (std::size_t k = 0; k < told.parts.size(); ++k)
            store_.keep({{},
                         static_cast<std::uint64_t>(shards_),
                         static_cast<std::uint64_t>(shards[k]),
                         std::move(told.parts[k])});
    });
    fail(lost, Stop::abort);
    if (report.status == PERM_CANCELLED)
        fail(Failure{report.status, told.text}, Stop::finish);
    else if (is_left_out(report.status)) {
        log_warning(formatted("rank {} is left out, its shards run elsewhere: {}", rank, told.text));
        left_out_ = Failure{report.status, told.text};
    } else if (report.status != PERM_OK)
        fail(Failure{report.status, rank == 0 ? told.text : formatted("rank {}: {}", rank, told.text)},
             Stop::abort);
}

std::set<std::int64_t> missing_of(const PieceStore &store, std::int64_t shards) {
    const auto count = static_cast<std::uint64_t>(shards);
    std::set<std::int64_t> missing;
    for (std::uint64_t shard = 0; shard < count; ++shard)
        if (!store.find({}, count, shard)) missing.insert(missing.end(), static_cast<std::int64_t>(shard));
    return missing;
}

namespace {

// Short in a short call, and never long beside what it takes.
void sleep_between_rounds(std::chrono::steady_clock::time_point start) {
    constexpr std::chrono::nanoseconds shortest{50'000}, longest{10'000'000};
    const std::chrono::nanoseconds since = std::chrono::steady_clock::now() - start;
    std::this_thread::sleep_for(std::clamp(since / 64, shortest, longest));
}

// This rank's of the next round.
Report report_of(Worker &worker, Call &control, Collector *collector, double done, Told &told) {
    Report report = worker.report(told);
    if (collector)
        report.stop = collector->poll(done);
    else if (const auto stop = failure_of([&] { control.poll(); }); stop && report.status == PERM_OK) {
        report.status = stop->status;
        told.text = stop->text;
    }
    return report;
}

} // namespace

void run_shards(const Communicator &comm, Worker &worker, Schedule &schedule, Call &control,
                Collector *collector) {
    const auto start = std::chrono::steady_clock::now();
    while (!schedule.is_over()) {
        Told told;
        Report own = report_of(worker, control, collector, schedule.done(), told);
        std::string bytes;
        if (own.finished > 0 || own.status != PERM_OK) bytes = written(told);
        own.bytes = std::ssize(bytes);
        const std::vector<Report> reports = comm.all_of(own);
        if (!collector) comm.send(bytes);
        for (int rank = 0; collector && rank < comm.size(); ++rank) {
            const Report &report = reports[static_cast<std::size_t>(rank)];
            if (report.bytes == 0) continue;
            if (rank > 0) bytes = comm.receive(rank, report.bytes);
            std::string_view view = bytes;
            collector->take(rank, report, read_from<Told>(view), schedule.shards_of(rank));
        }
        schedule.take(reports);
        worker.take(schedule.given_to(comm.rank()), schedule.stop());
        if (!schedule.is_over()) sleep_between_rounds(start);
    }
}

} // namespace libperm::mpi
