// One call by all ranks: rank 0 plans and combines, all run shards.
#include "capi/mpi/communicator.hpp"
#include "capi/mpi/machine_share.hpp"
#include "capi/mpi/root.hpp"
#include "capi/mpi/shard_traffic.hpp"
#include "jit/text/text.hpp"
#include "lib/base/durable_file.hpp"
#include "lib/base/struct_size.hpp"
#include "lib/base/system.hpp"

#include <perm.hpp>
#include <perm_mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <string_view>
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

    // make(options, share, watch): rank 0's part.
    template <class MakeRoot> void run(const MakeRoot &make) {
        if (comm_.is_root() && !failure_) {
            failure_ = failure_of_root([&] { root_ = make(opts_, share_, *watch_); });
            tell_of_checkpoint();
        }
        comm_.agree(failure_);
        Task received;
        Task &task = root_ ? root_->task() : received;
        task.broadcast(comm_);
        const ValueView values(task.values, static_cast<perm_value_type>(task.value_type));
        begin(task, values);
        if (root_)
            failure_ = lead(values);
        else
            serve_root(comm_, *worker_, *watch_);
        comm_.agree(failure_);
    }

  private:
    // The library knows of one way to be stopped, the callback.
    template <class Work> std::optional<Failure> failure_of_root(const Work &work) {
        const auto failure = failure_here(work);
        return failure && failure->status == PERM_CANCELLED && watch_->poll() ? watch_->poll() : failure;
    }

    void begin(const Task &task, const ValueView &values) {
        RankOptions own;
        set_share(own, opts_, share_, task.on_gpu != 0);
        threads_ = comm_.sum(std::min(own.opts.threads, available_cores()));
        failure_ = failure_here([&] {
            if (root_) root_->refuse_what_takes_too_long(opts_.time_limit_seconds, comm_.size(), threads_);
            const auto make = [&](const perm_opts &own_opts) { return job_of(task, values, own_opts); };
            worker_ = std::make_unique<ShardWorker>(make, own.opts);
        });
        if (root_) tell_of_checkpoint();
        comm_.agree(failure_);
    }

    // Of a call that is stopped before any shard is done: the file stays as it was found, or begun.
    void tell_of_checkpoint() {
        if (failure_ && opts_.checkpoint && exists(opts_.checkpoint))
            failure_ = stopped(*failure_, true, opts_.checkpoint);
    }

    std::optional<Failure> lead(const ValueView &values) {
        KeptPartials &kept = root_->kept();
        ShardHub hub(root_->shards(), kept.take_partials(), comm_.size());
        serve(comm_, hub, *worker_, *watch_, kept);
        const bool is_kept = kept.write(hub.partials());
        if (const auto &failure = hub.failure()) return stopped(*failure, is_kept, opts_.checkpoint);
        const auto failure =
            failure_of_root([&] { root_->combine(hub.partials(), values.data(), threads_); });
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

template <class MakeRoot> perm_status by_all(MPI_Comm comm, const perm_opts *opts, const MakeRoot &make) {
    const auto failure = failure_here([&] {
        require_mpi(comm);
        const Communicator all(comm);
        Call(all, opts).run(make);
    });
    if (!failure) return PERM_OK;
    const std::size_t length = failure->text.copy(last_error.data(), last_error.size() - 1);
    last_error[length] = '\0';
    return failure->status;
}

} // namespace
} // namespace libperm::mpi

extern "C" {

perm_status perm_mpi_compute(MPI_Comm comm, const perm_csr *a, const perm_opts *opts, perm_result *result) {
    using namespace libperm::mpi;
    return by_all(comm, opts, [&](const perm_opts &known, const MachineShare &share, Watch &watch) {
        return plan_root(a, known, result, share, watch);
    });
}

perm_status perm_mpi_estimate(MPI_Comm comm, const perm_csr *a, const perm_opts *opts,
                              const perm_estimate_opts *estimate_opts, perm_estimated *estimate) {
    using namespace libperm::mpi;
    return by_all(comm, opts, [&](const perm_opts &known, const MachineShare &share, Watch &watch) {
        return estimate_root(a, known, estimate_opts, estimate, share, watch);
    });
}

const char *perm_mpi_last_error(void) { return libperm::mpi::last_error.data(); }

} // extern "C"
