// One call by all ranks: rank 0 plans and combines, all run shards.
#include "capi/mpi/ranks.hpp"
#include "jit/driver/gpu.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/durable_file.hpp"
#include "lib/base/error.hpp"
#include "lib/base/json.hpp"
#include "lib/base/system.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/run/call.hpp"
#include "lib/run/tasks.hpp"

#include <perm.hpp>
#include <perm_mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <sched.h>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace libperm::mpi {
namespace {

perm_opts known_options(const perm_opts *opts) {
    if (!opts) return PERM_OPTS_INIT;
    const perm_opts known = read_known(*opts, offsetof(perm_opts, without), "perm_opts");
    if (known.machine)
        throw Error(PERM_BAD_OPTION,
                    "all ranks compute on the machines that they run on: leave out the option "
                    "machine, or explain a plan that is made with it");
    return known;
}

void require_threads() {
    int level = MPI_THREAD_SINGLE, is_main = 0;
    check_mpi(MPI_Query_thread(&level));
    check_mpi(MPI_Is_thread_main(&is_main));
    if (level < MPI_THREAD_FUNNELED || !is_main)
        throw Error(PERM_BAD_ARGUMENT, "MPI was initialised for one thread alone, or by another: call "
                                       "MPI_Init_thread with MPI_THREAD_FUNNELED, and this from there");
}

// A launcher may bind each rank to cores of its own, or all to the same.
int share_of_cores(const std::vector<cpu_set_t> &sets, std::size_t own) {
    int ranks = 0, before = 0;
    for (std::size_t k = 0; k < sets.size(); ++k) {
        cpu_set_t both;
        CPU_AND(&both, &sets[k], &sets[own]);
        if (CPU_COUNT(&both) == 0) continue;
        ++ranks;
        before += k < own;
    }
    const int cores = std::min(CPU_COUNT(&sets[own]), available_cores());
    return std::max(1, cores / std::max(ranks, 1) + (before < cores % std::max(ranks, 1)));
}

// A rank's part of the machine that it is on, which others may be on as well.
struct MachineShare {
    int rank = 0;                  // among those on the machine
    int cores = 1;                 // that it may run on, over the ranks on them
    std::int64_t memory_bytes = 0; // three quarters of the machine's, over the ranks there
    int gpus = 0;                  // that it sees

    explicit MachineShare(const Communicator &comm) { // collective
        const Communicator local = comm.of_machine();
        rank = local.rank();
        cpu_set_t own;
        CPU_ZERO(&own);
        sched_getaffinity(0, sizeof own,
                          &own); // on more than 1024 processors it fails: then there is no binding
        cores = share_of_cores(local.all_of(own), static_cast<std::size_t>(rank));
        memory_bytes = machine_memory() / 4 * 3 / local.size();
        gpus = driver_status().gpus;
    }
};

// The caller's options as this rank's share has them: only what concerns the machine, as the plan has all
// else. on_gpu: the plan takes a GPU, which `gpu` is to name.
perm_opts options_of_rank(const perm_opts &caller, const MachineShare &share, bool on_gpu, std::string &gpu) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.threads = caller.threads == 0 ? share.cores : caller.threads;
    opts.memory_limit_bytes = caller.memory_limit_bytes == 0 ? share.memory_bytes : caller.memory_limit_bytes;
    opts.cache_dir = caller.cache_dir;
    opts.cache_limit_bytes = caller.cache_limit_bytes;
    opts.device = caller.device;
    const std::string_view device = caller.device ? caller.device : "auto";
    if (!on_gpu || share.gpus == 0 || (device != "auto" && device != "gpu")) return opts;
    gpu = formatted("gpu:{}", share.rank % share.gpus);
    opts.device = gpu.c_str();
    return opts;
}

// The task of a plan of this matrix.
std::string saved(const perm::Plan &plan, const perm_csr &a) {
    const GivenValues values(read_once(&a), a);
    return perm::Task::plan(plan, values.data()).save();
}

// What rank 0's caller asks for, its arguments checked. These throw perm::Error and Error.
struct Asked {
    std::function<std::string(const perm_opts &)> save; // the task, made with these options, as bytes
    // The matrix of a task that a checkpoint may go on with; null: the task's bytes must be the same.
    const perm_csr *matrix = nullptr;
    perm_answer answer = PERM_ANSWER_INIT;
};

// What all ranks are to know of the task.
struct Sent {
    std::string task;
    bool is_on_gpu = false;
    std::vector<std::int64_t> missing; // shards

    template <class Archive> void serialize(Archive &ar) { ar(task, is_on_gpu, missing); }
};

class CallOfRanks {
  public:
    CallOfRanks(const Communicator &comm, const perm_opts *opts) : comm_(comm), share_(comm) {
        failure_ = failure_of([&] {
            require_threads();
            opts_ = known_options(opts);
            if (comm.is_root()) options_ = read_options(&opts_); // of others counts what a rank's task reads
        });
        options_.progress = tell;
        options_.progress_user = this;
        options_.cancel = opts_.cancel;
        options_.cancel_user = opts_.cancel_user;
        control_.emplace(options_);
        const int own = opts_.threads == 0 ? share_.cores : opts_.threads;
        for (const int threads : comm.all_of(std::min(own, available_cores()))) threads_ += threads;
    }

    // ask(): what rank 0's caller asks for.
    template <class Ask> void run(const Ask &ask) {
        if (comm_.is_root() && !failure_) {
            failure_ = failure_with_reason([&] { make(ask()); });
            tell_of_checkpoint();
        }
        comm_.agree(failure_);
        failure_ = failure_of([&] { run_all(); });
        comm_.agree(failure_);
    }

    // What it took in all, of which `plan` until the task was made; on so many threads of all ranks.
    struct Taken {
        double seconds, plan;
        std::int64_t threads;
    };
    Taken taken() const { return {seconds(), seconds_plan_, threads_}; }

  private:
    using Clock = std::chrono::steady_clock;
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    // That of the ranks, in the call's own thread: not where the library plans or combines.
    static void tell(double fraction, double seconds_left, void *call) {
        const CallOfRanks &own = *static_cast<CallOfRanks *>(call);
        if (own.is_told_ && own.opts_.progress)
            own.opts_.progress(fraction, seconds_left, own.opts_.progress_user);
    }

    // The library knows of one way to be stopped, the callback; the control knows why it was.
    static int is_to_stop(void *call) {
        return failure_of([&] { static_cast<CallOfRanks *>(call)->control_->poll(); }).has_value();
    }
    template <class Work> std::optional<Failure> failure_with_reason(const Work &work) {
        auto failure = failure_of(work);
        if (failure && failure->status == PERM_CANCELLED)
            if (auto why = failure_of([&] { control_->poll(); })) return why;
        return failure;
    }

    // As rank 0 makes a task: what is kept is kept here, and limits are those of all ranks.
    perm_opts options_of_task() {
        perm_opts opts = opts_;
        opts.checkpoint = nullptr;
        opts.checkpoint_seconds = 0;
        opts.time_limit_seconds = std::numeric_limits<double>::infinity(); // see refuse_what_takes_too_long
        if (opts.memory_limit_bytes == 0) opts.memory_limit_bytes = share_.memory_bytes;
        opts.progress = nullptr;
        opts.cancel = is_to_stop;
        opts.cancel_user = this;
        return opts;
    }

    void make(Asked asked) {
        asked_ = std::move(asked);
        const perm_opts opts = options_of_task();
        sent_.task = bytes_of_task(opts);
        const perm::Task task = perm::Task::load(sent_.task, opts);
        const Json about = Json::read(task.explain(PERM_FORMAT_JSON));
        sent_.is_on_gpu = about.at("device") == "gpu";
        shards_ = task.shards();
        serial_seconds_ = task.shard_seconds() * static_cast<double>(shards_);
        seconds_plan_ = seconds();
        if (options_.checkpoint.empty()) return;
        KeptAbout kept;
        kept.n = about.integer("n");
        kept.entries = about.integer("nnz");
        for (const char *way : {"engine", "method"})
            if (const Json *name = about.find(way); name && !name->is_null()) kept.way = name->text();
        const PolledScope scope(&*control_); // what is kept tells how far it is
        kept_.emplace(options_, TaskIdentity{TaskIdentity::by_ranks, {}}, kept, sent_.task);
    }

    // What a checkpoint holds may be anything; where any machine makes the same task, it is made anew.
    std::string bytes_of_task(const perm_opts &opts) const {
        const auto kept = plan_in_checkpoint(options_, TaskIdentity::by_ranks);
        if (!kept || !asked_.matrix) {
            std::string made = asked_.save(opts);
            if (!kept || made == *kept) return made;
        } else {
            const perm::Plan plan = perm::Plan::load(*kept, opts);
            if (perm_plan_check_matrix(plan.raw(), asked_.matrix) == PERM_OK &&
                saved(plan, *asked_.matrix) == *kept)
                return *kept;
        }
        fail_foreign(options_.checkpoint, "another matrix, or of an estimate with other options");
    }

    // Of a call that is stopped before any shard is done: the file stays as it was found.
    void tell_of_checkpoint() {
        if (!failure_ || (failure_->status != PERM_CANCELLED && failure_->status != PERM_REFUSED_TIME))
            return;
        if (!options_.checkpoint.empty() && exists(options_.checkpoint))
            failure_->text +=
                formatted("; what is done is in {}: the same call goes on from there", options_.checkpoint);
    }

    // What keeps the parts has the answer or its failure pass, and says what is kept.
    void run_all() {
        if (!comm_.is_root()) return run_rank(nullptr);
        const auto run = [&](PieceStore &store) {
            run_rank(&store);
            return true;
        };
        if (kept_) {
            kept_->run(run);
        } else {
            PieceStore store;
            run(store);
            control_->finish();
        }
    }

    // `store`: rank 0's.
    void run_rank(PieceStore *store) {
        begin(store);
        Schedule schedule({sent_.missing.begin(), sent_.missing.end()}, comm_.size());
        if (!store) return run_shards(comm_, *worker_, schedule, *control_, nullptr);
        // A part that is kept has all of them written if that is due, and one that was kept may be again.
        const auto write_now = [&] {
            options_.checkpoint_seconds = 0;
            if (!kept_) return;
            const std::vector<Piece> known = store->pieces();
            if (!known.empty()) store->keep(known.front());
        };
        Collector collector(shards_, *store, *control_, write_now);
        run_shards(comm_, *worker_, schedule, *control_, &collector);
        combine(*store, collector.failure());
    }

    void begin(PieceStore *store) {
        comm_.agree(failure_of([&] {
            if (!store) return;
            refuse_what_takes_too_long();
            const std::set<std::int64_t> missing = missing_of(*store, shards_);
            sent_.missing.assign(missing.begin(), missing.end());
            control_->begin(static_cast<double>(shards_), seconds_of_all());
            control_->skip(static_cast<double>(shards_ - std::ssize(missing)));
        }));
        std::string bytes = store ? written(sent_) : "";
        comm_.broadcast(bytes);
        std::string_view view = bytes;
        if (!store) read_into(view, sent_);
        comm_.agree(failure_of([&] {
            std::string gpu;
            worker_.emplace(sent_.task, options_of_rank(opts_, share_, sent_.is_on_gpu, gpu));
        }));
        is_told_ = store != nullptr;
    }

    std::int64_t at_once() const { return sent_.is_on_gpu ? comm_.size() : threads_; }
    double seconds_of_all() const { return serial_seconds_ / static_cast<double>(at_once()); }

    // It was planned for one rank, and they are many.
    void refuse_what_takes_too_long() const {
        if (seconds_of_all() <= options_.refuse_seconds) return;
        throw Error(PERM_REFUSED_TIME,
                    formatted("predicted to take {} on {} {}{}, and the limit is {}: allow more with "
                              "time_limit_seconds, name a checkpoint, or take more ranks",
                              readable_seconds(seconds_of_all()), at_once(),
                              sent_.is_on_gpu ? "GPU" : "thread", at_once() == 1 ? "" : "s",
                              readable_seconds(options_.refuse_seconds)));
    }

    // Into the caller's answer.
    void combine(const PieceStore &store, const std::optional<Failure> &stopped) {
        if (!missing_of(store, shards_).empty()) throw Error(stopped->status, stopped->text);
        std::vector<std::string> parts;
        for (Piece &piece : store.pieces()) parts.push_back(std::move(piece.part));
        is_told_ = false;
        const auto failure = failure_with_reason([&] {
            constexpr double least = 1e-3;      // as 0 would mean the default
            perm_opts opts = options_of_task(); // for a second run, or samples that are still missing
            if (opts_.time_limit_seconds > 0)
                opts.time_limit_seconds = std::max(least, opts_.time_limit_seconds - seconds());
            const perm::Task task = perm::Task::load(sent_.task, opts);
            const std::vector<perm_partial> view = perm::view_of(parts);
            perm::check(perm_task_combine(task.raw(), view.data(), std::ssize(view), &asked_.answer));
        });
        if (failure) throw Error(failure->status, failure->text);
        is_told_ = true;
    }

    const Communicator &comm_;
    const MachineShare share_;
    const Clock::time_point start_ = Clock::now();
    perm_opts opts_ = PERM_OPTS_INIT;
    Options options_;          // rank 0's
    std::int64_t threads_ = 0; // of all ranks
    std::optional<Call> control_;
    std::optional<Failure> failure_; // of this rank
    Asked asked_;                    // on rank 0, as what follows
    std::int64_t shards_ = 1;
    double serial_seconds_ = 0, seconds_plan_ = 0;
    std::atomic<bool> is_told_ = false;
    std::optional<KeptPieces> kept_;
    Sent sent_;
    std::optional<Worker> worker_;
};

void require_mpi(MPI_Comm comm) {
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (!begun || ended)
        throw Error(PERM_BAD_ARGUMENT, "MPI is not initialised: call MPI_Init_thread before");
    if (comm == MPI_COMM_NULL) throw Error(PERM_BAD_ARGUMENT, "the communicator is MPI_COMM_NULL");
}

// A fixed buffer: telling of a failure must not fail.
thread_local std::array<char, 2048> last_error{};

// ask(): as CallOfRanks::run has it; tell(what it took): on rank 0.
template <class Ask, class Tell>
perm_status by_all(MPI_Comm comm, const perm_opts *opts, const Ask &ask, const Tell &tell) {
    const auto failure = failure_of([&] {
        require_mpi(comm);
        const Communicator all(comm);
        CallOfRanks call(all, opts);
        call.run(ask);
        if (all.is_root()) tell(call.taken());
    });
    if (!failure) return PERM_OK;
    const std::size_t length = failure->text.copy(last_error.data(), last_error.size() - 1);
    last_error[length] = '\0';
    return failure->status;
}

bool is_on_gpu(const perm::Plan &plan) {
    return Json::read(plan.explain(PERM_FORMAT_JSON)).at("device") == "gpu";
}

// Saved. On which of a machine's GPUs a rank is to run can only be told to a plan for GPUs.
std::string planned(const perm_csr &a, perm_opts opts) {
    perm::Plan plan(a, opts);
    const bool is_automatic = !opts.device || std::string_view(opts.device) == "auto";
    if (is_automatic && is_on_gpu(plan)) {
        opts.device = "gpu";
        plan = perm::Plan(a, opts);
    }
    return saved(plan, a);
}

Asked computation(const perm_csr *a, perm_result *result) {
    if (!result) throw Error(PERM_BAD_ARGUMENT, "the result is a null pointer");
    perm::check(perm_result_clear(result));
    read_pattern(a); // throws what it throws
    const perm_csr known = read_known(*a, offsetof(perm_csr, row_multiplicity), "perm_csr");
    Asked asked;
    asked.save = [known](const perm_opts &opts) { return planned(known, opts); };
    asked.matrix = a;
    asked.answer.results = result;
    asked.answer.count = 1;
    return asked;
}

Asked task_of(const perm_task *task, const perm_answer *answer) {
    if (!answer) throw Error(PERM_BAD_ARGUMENT, "the answer is a null pointer");
    Asked asked;
    asked.save = [=](const perm_opts &) { return perm::read_bytes(perm_task_save, task); };
    asked.answer = read_known(*answer, sizeof(perm_answer), "perm_answer");
    return asked;
}

} // namespace
} // namespace libperm::mpi

perm_status perm_mpi_compute(MPI_Comm comm, const perm_csr *a, const perm_opts *opts, perm_result *result) {
    using namespace libperm::mpi;
    return by_all(
        comm, opts, [&] { return computation(a, result); },
        [&](const CallOfRanks::Taken &taken) {
            result->threads = static_cast<std::int32_t>(taken.threads);
            result->seconds_plan = taken.plan;
            result->seconds_total = taken.seconds;
            result->seconds_run = taken.seconds - taken.plan - result->seconds_check;
        });
}

perm_status perm_mpi_run(MPI_Comm comm, const perm_task *task, const perm_opts *opts,
                         const perm_answer *answer) {
    using namespace libperm::mpi;
    return by_all(
        comm, opts, [&] { return task_of(task, answer); }, [](const CallOfRanks::Taken &) {});
}

const char *perm_mpi_last_error(void) { return libperm::mpi::last_error.data(); }
