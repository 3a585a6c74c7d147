// One call by all ranks: rank 0 plans and combines, all run shards.
#include "capi/mpi/communicator.hpp"
#include "capi/mpi/input.hpp"
#include "capi/mpi/kept_partials.hpp"
#include "capi/mpi/machine_share.hpp"
#include "capi/mpi/shard_traffic.hpp"
#include "jit/text/text.hpp"
#include "lib/base/json.hpp"
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

struct Destroy {
    void operator()(perm_plan *plan) const { perm_plan_destroy(plan); }
};

// What all ranks are told before they begin.
struct Task {
    std::string plan, values; // as bytes
    std::int64_t value_type = PERM_VALUE_F64, on_gpu = 0;

    void broadcast(const Communicator &comm) {
        comm.broadcast(plan);
        comm.broadcast(values);
        comm.broadcast(value_type);
        comm.broadcast(on_gpu);
    }
};

// What rank 0 does that no other does.
class Root {
  public:
    // Checks and plans, or takes the plan from the checkpoint.
    Root(const perm_csr *a, const perm_opts &opts, perm_result *result, const MachineShare &share,
         Watch &watch)
        : opts_(opts), watch_(watch) {
        if (!result) throw Error(PERM_BAD_ARGUMENT, "the result is a null pointer");
        check(perm_result_clear(result));
        const Input input(a);
        seconds_check_ = watch_.seconds();
        const std::string checkpoint = opts.checkpoint ? opts.checkpoint : "";
        kept_ = std::make_unique<KeptPartials>(checkpoint, opts.checkpoint_seconds, input.digest);
        opts_.checkpoint = nullptr;
        opts_.time_limit_seconds = std::numeric_limits<double>::infinity(); // see refuse_what_takes_too_long
        if (opts_.memory_limit_bytes == 0) opts_.memory_limit_bytes = share.memory_bytes;
        opts_.cancel = Watch::is_to_stop;
        opts_.cancel_user = &watch_;
        task_.plan = kept_->plan().empty() ? planned(input.csr) : kept_->plan();
        kept_->set_plan(task_.plan);
        const perm::Plan plan = perm::Plan::load(task_.plan, opts_);
        plan.check_matrix(input.csr); // that of a checkpoint may say anything
        task_.on_gpu = is_on_gpu(plan);
        task_.values = input.values;
        task_.value_type = input.csr.value_type;
        shards_ = plan.shards();
        kept_->require_of(shards_);
        serial_seconds_ = plan.shard_seconds() * static_cast<double>(shards_);
        seconds_plan_ = watch_.seconds() - seconds_check_;
    }

    Task &task() { return task_; }
    KeptPartials &kept() { return *kept_; }
    std::int64_t shards() const { return shards_; }

    // The plan was made for one rank, and they are many. `limit`: the caller's.
    void refuse_what_takes_too_long(double limit, std::int64_t ranks, std::int64_t threads) const {
        constexpr double day = 86400;
        const double most = limit > 0 ? limit : day;
        const std::int64_t at_once = task_.on_gpu ? ranks : threads;
        const double seconds = serial_seconds_ / static_cast<double>(at_once);
        if (kept_->is_wanted() || seconds <= most) return;
        throw Error(PERM_REFUSED_TIME,
                    formatted("predicted to take {} on {} {}{}, and the limit is {}: allow more with "
                              "time_limit_seconds, name a checkpoint, or take more ranks",
                              readable_seconds(seconds), at_once, task_.on_gpu ? "GPU" : "thread",
                              at_once == 1 ? "" : "s", readable_seconds(most)));
    }

    void combine(const Partials &partials, const void *values, std::int64_t threads, perm_result *result) {
        perm_opts opts = opts_;
        opts.time_limit_seconds = watch_.seconds_left(); // for a second run
        opts.progress = nullptr;                         // its caller has been told that all is done
        perm_plan *loaded = nullptr;
        check(perm_plan_load(task_.plan.data(), task_.plan.size(), &opts, &loaded));
        const std::unique_ptr<perm_plan, Destroy> plan(loaded);
        std::vector<perm_partial> all;
        for (const auto &[shard, bytes] : partials) {
            perm_partial partial = PERM_PARTIAL_INIT;
            partial.bytes = const_cast<char *>(bytes.data()); // it is only read
            partial.size = bytes.size();
            all.push_back(partial);
        }
        check(
            perm_plan_combine(plan.get(), values, all.data(), static_cast<std::int64_t>(all.size()), result));
        result->threads = static_cast<std::int32_t>(threads);
        result->seconds_check = seconds_check_;
        result->seconds_plan = seconds_plan_;
        result->seconds_total = watch_.seconds();
        result->seconds_run = result->seconds_total - seconds_check_ - seconds_plan_;
    }

  private:
    static bool is_on_gpu(const perm::Plan &plan) {
        return Json::read(plan.explain(PERM_FORMAT_JSON)).at("device") == "gpu";
    }

    // Saved. On which of a machine's GPUs a rank is to run can only be told to a plan for GPUs.
    std::string planned(const perm_csr &a) {
        perm::Plan plan(a, opts_);
        const bool is_automatic = !opts_.device || std::string_view(opts_.device) == "auto";
        if (is_automatic && is_on_gpu(plan)) {
            opts_.device = "gpu";
            plan = perm::Plan(a, opts_);
        }
        return plan.save();
    }

    perm_opts opts_;
    Watch &watch_;
    std::unique_ptr<KeptPartials> kept_;
    Task task_;
    std::int64_t shards_ = 1;
    double serial_seconds_ = 0, seconds_check_ = 0, seconds_plan_ = 0;
};

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

    void run(const perm_csr *a, perm_result *result) {
        if (comm_.is_root() && !failure_)
            failure_ =
                failure_of_root([&] { root_ = std::make_unique<Root>(a, opts_, result, share_, *watch_); });
        comm_.agree(failure_);
        Task received;
        Task &task = root_ ? root_->task() : received;
        task.broadcast(comm_);
        const ValueView values(task.values, static_cast<perm_value_type>(task.value_type));
        begin(task, values);
        if (root_)
            failure_ = lead(values, result);
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
            worker_ = std::make_unique<ShardWorker>(task.plan, values.data(), own.opts);
        });
        comm_.agree(failure_);
    }

    std::optional<Failure> lead(const ValueView &values, perm_result *result) {
        KeptPartials &kept = root_->kept();
        ShardHub hub(root_->shards(), kept.take_partials(), comm_.size());
        serve(comm_, hub, *worker_, *watch_, kept);
        const bool is_kept = kept.write(hub.partials());
        if (const auto &failure = hub.failure()) return stopped(*failure, is_kept, opts_.checkpoint);
        return failure_of_root([&] { root_->combine(hub.partials(), values.data(), threads_, result); });
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

} // namespace
} // namespace libperm::mpi

extern "C" {

perm_status perm_mpi_compute(MPI_Comm comm, const perm_csr *a, const perm_opts *opts, perm_result *result) {
    using namespace libperm::mpi;
    const auto failure = failure_here([&] {
        require_mpi(comm);
        const Communicator all(comm);
        Call(all, opts).run(a, result);
    });
    if (!failure) return PERM_OK;
    const std::size_t length = failure->text.copy(last_error.data(), last_error.size() - 1);
    last_error[length] = '\0';
    return failure->status;
}

const char *perm_mpi_last_error(void) { return libperm::mpi::last_error.data(); }

} // extern "C"
