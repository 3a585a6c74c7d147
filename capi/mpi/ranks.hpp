// MPI as the ranks of one call use it: errors are exceptions, and who waits leaves the core to others.
#pragma once

#include "lib/base/error.hpp"
#include "lib/run/call.hpp"
#include "lib/run/piece_store.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <perm.hpp>
#include <perm_mpi.h>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace libperm::mpi {

// An exception as something that can be sent.
struct Failure {
    perm_status status = PERM_OK;
    std::string text;
};

// What `work` threw, if it did: one of the library's own exceptions, or of perm.h's C++ part.
template <class Work> std::optional<Failure> failure_of(const Work &work) {
    try {
        work();
        return {};
    } catch (const Error &error) {
        return Failure{error.status(), error.what()};
    } catch (const perm::Error &error) {
        return Failure{error.status(), error.what()};
    } catch (const std::bad_alloc &) {
        return Failure{PERM_OUT_OF_MEMORY, "the system refused an allocation that was within the memory "
                                           "limit; lower memory_limit_bytes or free memory"};
    } catch (const std::exception &error) {
        return Failure{PERM_INTERNAL, error.what()};
    }
}

class Communicator {
  public:
    // The caller's, duplicated, so that our messages meet no others. Collective.
    explicit Communicator(MPI_Comm comm);
    ~Communicator();
    Communicator(const Communicator &) = delete;
    Communicator &operator=(const Communicator &) = delete;

    // The ranks that share this one's memory. Collective.
    Communicator of_machine() const { return {comm_, rank_}; }

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool is_root() const { return rank_ == 0; }

    // What each rank has, on all of them. Collective.
    template <class Own> std::vector<Own> all_of(const Own &own) const {
        static_assert(std::is_trivially_copyable_v<Own>);
        std::vector<Own> all(static_cast<std::size_t>(size_));
        gather(&own, all.data(), static_cast<int>(sizeof own));
        return all;
    }

    // What one rank has, of any length. Collective.
    void broadcast(std::string &bytes, int from = 0) const;

    // Collective: throws the first failing rank's failure on every rank, if there is one.
    void agree(const std::optional<Failure> &own) const;

    // To the root, which receives as many.
    void send(std::string &bytes) const;
    std::string receive(int from, std::int64_t size) const;

  private:
    Communicator(MPI_Comm whole, int rank);
    void begin();
    void gather(const void *own, void *all, int bytes) const;

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1;
};

void check_mpi(int code); // throws Error

// A task's shards by all ranks, in rounds. In each of them every rank tells all others what it has done, and
// every rank concludes the same from that: who runs which shard, and when it is over. The parts go to rank 0.

enum class Stop : std::int64_t {
    no,
    finish, // the shards that are running, forget the others
    abort   // those as well
};

// What a rank tells in a round.
struct Report {
    std::int64_t finished = 0;    // shards, the first of those that it had
    std::int64_t is_busy = 0;     // with others of them
    std::int64_t target = 0;      // how many it would have
    double fraction = 0;          // of the one that is running
    perm_status status = PERM_OK; // PERM_CANCELLED: its caller wants the call to stop; else of a shard
    Stop stop = Stop::no;         // as rank 0 decides
    std::int64_t bytes = 0;       // of what follows for rank 0
};

// For rank 0: the parts of the shards that are finished, and what the status is about.
struct Told {
    std::vector<std::string> parts;
    std::string text;

    template <class Archive> void serialize(Archive &ar) { ar(parts, text); }
};

// Which rank has which shards: it follows from the reports alone.
class Schedule {
  public:
    Schedule(std::set<std::int64_t> missing, int ranks);

    void take(const std::vector<Report> &reports); // of all ranks

    using Shards = std::deque<std::int64_t>;
    const Shards &shards_of(int rank) const { return ranks_[static_cast<std::size_t>(rank)].has; }
    const Shards &given_to(int rank) const { return ranks_[static_cast<std::size_t>(rank)].given; } // at last

    Stop stop() const { return stop_; }
    bool is_complete() const { return left_ == 0; }
    bool is_over() const { return is_complete() || (stop_ != Stop::no && !is_any_busy_); }
    double done() const; // shards, and shares of those that are running

  private:
    struct Rank {
        Shards has, given;
        bool is_left_out = false;
        double fraction = 0;
    };
    void take(Rank &rank, const Report &report);

    std::vector<Rank> ranks_;
    std::set<std::int64_t> waiting_; // in ascending order they are given, also those that come back
    std::size_t all_, left_;
    Stop stop_ = Stop::no;
    bool is_any_busy_ = false;
};

// A rank's computing thread: it runs the shards that the rank was given, one after the other, with one in
// reserve or more, so that it never waits for a round.
class Worker {
  public:
    // Of the task that these bytes are, whose callbacks are the worker's. Throws perm::Error.
    Worker(const std::string &task, perm_opts opts);
    ~Worker();
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;

    Report report(Told &told); // since the last one
    void take(const Schedule::Shards &given, Stop stop);

  private:
    void work(const std::stop_token &closed);
    std::int64_t reserve() const;

    std::atomic<bool> aborted_ = false;
    std::atomic<double> fraction_ = 0; // of the running shard
    std::optional<const perm::Task> task_;

    std::mutex mutex_;
    std::condition_variable_any given_;
    Schedule::Shards queue_; // the first is running
    std::vector<std::string> parts_;
    std::optional<Failure> failure_; // to be told
    bool has_failed_ = false;
    double seconds_ = 0;  // of a shard, measured, before that predicted
    std::jthread thread_; // closed and waited for before all of these end
};

// What rank 0 does beside: it keeps the parts, tells how far the shards are, and says when they are to stop.
class Collector {
  public:
    // Of so many shards, whose parts the store keeps. control: counts them, and shares of those that are
    // running. write_now(): what is kept.
    Collector(std::int64_t shards, PieceStore &store, Call &control, std::function<void()> write_now)
        : shards_(shards), store_(store), control_(control), write_now_(std::move(write_now)) {}

    Stop poll(double done);
    void take(int rank, const Report &report, Told told, const Schedule::Shards &shards);

    // The first; if none is, that of the last rank that was left out.
    const std::optional<Failure> &failure() const { return failure_ ? failure_ : left_out_; }

  private:
    using Clock = std::chrono::steady_clock;
    void fail(std::optional<Failure> why, Stop stop);

    const std::int64_t shards_;
    PieceStore &store_;
    Call &control_;
    std::function<void()> write_now_;
    double told_ = 0;
    std::optional<Failure> failure_, left_out_;
    Stop stop_ = Stop::no;
    Clock::time_point stopped_;
};

// Of so many shards those that the store does not have. Throws Error where it has those of another task, as a
// checkpoint may.
std::set<std::int64_t> missing_of(const PieceStore &store, std::int64_t shards);

// Until all shards are done or the ranks are stopped. The collector is rank 0's; all poll their control.
void run_shards(const Communicator &comm, Worker &worker, Schedule &schedule, Call &control,
                Collector *collector);

} // namespace libperm::mpi
