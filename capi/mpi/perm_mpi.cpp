// One call by all ranks: rank 0 plans and combines, all run shards.
#include "capi/mpi/communicator.hpp"
#include "capi/mpi/machine_share.hpp"
#include "capi/mpi/root.hpp"
#include "capi/mpi/shard_traffic.hpp"
#include "jit/text/text.hpp"
#include "lib/base/durable_file.hpp"
#include "lib/base/json.hpp"
#include "lib/base/struct_size.hpp"
#include "lib/base/system.hpp"
#include "lib/input/matrix.hpp"

#include <perm.hpp>
#include <perm_mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

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

// The library's own exceptions, with what perm.h's C++ part throws.
template <class Work> std::optional<Failure> failure_here(const Work &work) {
    return failure_of([&] {
        try {
            work();
        } catch (const perm::Error &error) {
            throw Error(error.status(), error.what());
        }
    });
}

// With what is to be said of the checkpoint.
Failure stopped(Failure why, bool is_kept, const char *checkpoint) {
    if (!checkpoint || (why.status != PERM_CANCELLED && why.status != PERM_REFUSED_TIME)) return why;
    why.text += is_kept ? formatted("; what is done is in {}: the same call goes on from there", checkpoint)
                        : formatted("; what was done since the last write to {} is lost: it cannot be "
                                    "written",
                                    checkpoint);
    return why;
}

class Call {
  public:
    Call(const Communicator &comm, const perm_opts *opts) : comm_(comm), share_(share_of_machine(comm)) {
        failure_ = failure_here([&] {
            require_threads();
            opts_ = known_options(opts);
        });
        if (!comm.is_root()) opts_.time_limit_seconds = 0; // rank 0's counts
        watch_ = std::make_unique<Watch>(opts_);
    }

    // ask(): what rank 0's caller asks for.
    template <class Ask> void run(const Ask &ask) {
        if (comm_.is_root() && !failure_) {
            failure_ =
                failure_of_root([&] { root_ = std::make_unique<Root>(ask(), opts_, share_, *watch_); });
            tell_of_checkpoint();
        }
        comm_.agree(failure_);
        std::string task = root_ ? root_->task() : std::string();
        std::int64_t is_on_gpu = root_ && root_->is_on_gpu();
        comm_.broadcast(task);
        comm_.broadcast(is_on_gpu);
        begin(task, is_on_gpu != 0);
        if (root_)
            failure_ = lead();
        else
            serve_root(comm_, *worker_, *watch_);
        comm_.agree(failure_);
    }

    // What it took in all, of which `plan` until the task was made; on so many threads of all ranks.
    struct Taken {
        double seconds, plan;
        std::int64_t threads;
    };
    Taken taken() const { return {watch_->seconds(), root_->seconds_plan(), threads_}; }

  private:
    // The library knows of one way to be stopped, the callback.
    template <class Work> std::optional<Failure> failure_of_root(const Work &work) {
        const auto failure = failure_here(work);
        return failure && failure->status == PERM_CANCELLED && watch_->poll() ? watch_->poll() : failure;
    }

    void begin(const std::string &task, bool is_on_gpu) {
        RankOptions own;
        set_share(own, opts_, share_, is_on_gpu);
        threads_ = comm_.sum(std::min(own.opts.threads, available_cores()));
        failure_ = failure_here([&] {
            if (root_) root_->refuse_what_takes_too_long(opts_.time_limit_seconds, comm_.size(), threads_);
            worker_ = std::make_unique<ShardWorker>(task, own.opts);
        });
        if (root_) tell_of_checkpoint();
        comm_.agree(failure_);
    }

    // Of a call that is stopped before any shard is done: the file stays as it was found, or begun.
    void tell_of_checkpoint() {
        if (failure_ && opts_.checkpoint && exists(opts_.checkpoint))
            failure_ = stopped(*failure_, true, opts_.checkpoint);
    }

    std::optional<Failure> lead() {
        KeptPartials &kept = root_->kept();
        ShardHub hub(root_->shards(), kept.take_partials(), comm_.size());
        serve(comm_, hub, *worker_, *watch_, kept);
        const bool is_kept = kept.write(hub.partials());
        if (const auto &failure = hub.failure()) return stopped(*failure, is_kept, opts_.checkpoint);
        const auto failure = failure_of_root([&] { root_->combine(hub.partials()); });
        return failure ? stopped(*failure, is_kept, opts_.checkpoint) : failure;
    }

    const Communicator &comm_;
    const MachineShare share_;
    perm_opts opts_ = PERM_OPTS_INIT;
    std::optional<Failure> failure_; // of this rank
    std::unique_ptr<Watch> watch_;
    std::unique_ptr<Root> root_; // on rank 0
    std::unique_ptr<ShardWorker> worker_;
    std::int64_t threads_ = 1; // of all ranks
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

// ask(): as Call::run has it; tell(what it took): on rank 0.
template <class Ask, class Tell>
perm_status by_all(MPI_Comm comm, const perm_opts *opts, const Ask &ask, const Tell &tell) {
    const auto failure = failure_here([&] {
        require_mpi(comm);
        const Communicator all(comm);
        Call call(all, opts);
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
    const GivenValues values(read_once(&a), a);
    return perm::Task::plan(plan, values.data()).save();
}

Asked computation(const perm_csr *a, perm_result *result) {
    if (!result) throw Error(PERM_BAD_ARGUMENT, "the result is a null pointer");
    check(perm_result_clear(result));
    read_pattern(a); // throws what it throws
    const perm_csr known = read_known(*a, offsetof(perm_csr, row_multiplicity), "perm_csr");
    Asked asked;
    asked.save = [known](const perm_opts &opts) { return planned(known, opts); };
    asked.matrix = a;
    asked.answer.results = result;
    asked.answer.count = 1;
    return asked;
}

Asked estimate_of(const perm_csr *a, const perm_estimate_opts *wanted, perm_estimated *estimate) {
    if (!estimate) throw Error(PERM_BAD_ARGUMENT, "the place for the estimate is a null pointer");
    if (estimate->struct_size < sizeof(perm_estimated))
        throw Error(PERM_BAD_ARGUMENT,
                    "perm_estimated.struct_size is too small: start from PERM_ESTIMATED_INIT");
    *estimate = PERM_ESTIMATED_INIT;
    Asked asked;
    asked.save = [=](const perm_opts &opts) {
        if (!a) throw Error(PERM_BAD_ARGUMENT, "the matrix is a null pointer");
        return perm::Task::estimate(*a, wanted ? *wanted : perm_estimate_opts PERM_ESTIMATE_OPTS_INIT, opts)
            .save();
    };
    asked.answer.estimate = estimate;
    return asked;
}

Asked task_of(const perm_task *task, const perm_answer *answer) {
    if (!answer) throw Error(PERM_BAD_ARGUMENT, "the answer is a null pointer");
    Asked asked;
    asked.save = [=](const perm_opts &) {
        return perm::read_bytes([&](void *buffer, std::size_t capacity, std::size_t *needed) {
            return perm_task_save(task, buffer, capacity, needed);
        });
    };
    asked.answer = read_known(*answer, sizeof(perm_answer), "perm_answer");
    return asked;
}

} // namespace
} // namespace libperm::mpi

extern "C" {

perm_status perm_mpi_compute(MPI_Comm comm, const perm_csr *a, const perm_opts *opts, perm_result *result) {
    using namespace libperm::mpi;
    return by_all(
        comm, opts, [&] { return computation(a, result); },
        [&](const Call::Taken &taken) {
            result->threads = static_cast<std::int32_t>(taken.threads);
            result->seconds_plan = taken.plan;
            result->seconds_total = taken.seconds;
            result->seconds_run = taken.seconds - taken.plan - result->seconds_check;
        });
}

perm_status perm_mpi_estimate(MPI_Comm comm, const perm_csr *a, const perm_opts *opts,
                              const perm_estimate_opts *estimate_opts, perm_estimated *estimate) {
    using namespace libperm::mpi;
    return by_all(
        comm, opts, [&] { return estimate_of(a, estimate_opts, estimate); },
        [&](const Call::Taken &taken) { estimate->seconds_total = taken.seconds; });
}

perm_status perm_mpi_run(MPI_Comm comm, const perm_task *task, const perm_opts *opts,
                         const perm_answer *answer) {
    using namespace libperm::mpi;
    return by_all(
        comm, opts, [&] { return task_of(task, answer); }, [](const Call::Taken &) {});
}

const char *perm_mpi_last_error(void) { return libperm::mpi::last_error.data(); }

} // extern "C"
