// A rank's part of the machine that it is on, which others may be on as well.
#pragma once

#include "capi/mpi/communicator.hpp"

#include <perm.h>

#include <cstdint>
#include <string>

namespace libperm::mpi {

struct MachineShare {
    int rank = 0;                  // among those on the machine
    int cores = 1;                 // that it may run on, over the ranks on them
    std::int64_t memory_bytes = 0; // three quarters of the machine's, over the ranks there
    int gpus = 0;                  // that it sees

    explicit MachineShare(const Communicator &comm); // collective
};

// The caller's options as this rank's share has them: only what concerns the machine, as the plan has all
// else.
struct RankOptions {
    perm_opts opts = PERM_OPTS_INIT;
    std::string gpu; // that opts.device may point to

    // on_gpu: the plan takes a GPU.
    RankOptions(const perm_opts &caller, const MachineShare &share, bool on_gpu);
    RankOptions(const RankOptions &) = delete;
    RankOptions &operator=(const RankOptions &) = delete;
};

} // namespace libperm::mpi
