#include "capi/mpi/machine_share.hpp"

#include "jit/driver/gpu.hpp"
#include "jit/text/text.hpp"
#include "lib/base/system.hpp"

#include <algorithm>
#include <sched.h>
#include <string_view>
#include <vector>

namespace libperm::mpi {
namespace {

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

} // namespace

MachineShare::MachineShare(const Communicator &comm) {
    const Communicator local = comm.of_machine();
    rank = local.rank();
    cpu_set_t own;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own); // on more than 1024 processors it fails: then there is no binding
    cores = share_of_cores(local.all_of(own), static_cast<std::size_t>(rank));
    memory_bytes = machine_memory() / 4 * 3 / local.size();
    gpus = driver_status().gpus;
}

RankOptions::RankOptions(const perm_opts &caller, const MachineShare &share, bool on_gpu) {
    opts.threads = caller.threads == 0 ? share.cores : caller.threads;
    opts.memory_limit_bytes = caller.memory_limit_bytes == 0 ? share.memory_bytes : caller.memory_limit_bytes;
    opts.cache_dir = caller.cache_dir;
    opts.cache_limit_bytes = caller.cache_limit_bytes;
    opts.device = caller.device;
    const std::string_view device = caller.device ? caller.device : "auto";
    if (!on_gpu || share.gpus == 0 || (device != "auto" && device != "gpu")) return;
    gpu = formatted("gpu:{}", share.rank % share.gpus);
    opts.device = gpu.c_str();
}

} // namespace libperm::mpi
