// A rank's part of the machine that it is on, which others may be on as well.
#pragma once

#include "capi/mpi/communicator.hpp"

#include <perm.h>

#include <cstdint>
#include <string>

namespace libperm::mpi {

struct MachineShare {
    int ranks = 1, rank = 0;       // on the machine, and this one among them
    int cores = 1;                 // that it may run on, over the ranks on them
    std::int64_t memory_bytes = 0; // three quarters of the machine's, over the ranks there
    int gpus = 0;                  // that it sees
};

MachineShare share_of_machine(const Communicator &comm); // collective

// The caller's options as this rank's share has them.
struct RankOptions {
    perm_opts opts = PERM_OPTS_INIT;
    std::string gpu; // that opts.device may point to
};
// on_gpu: the plan takes a GPU. Only what concerns the machine: the plan has all else.
void set_share(RankOptions &out, const perm_opts &caller, const MachineShare &share, bool on_gpu);

} // namespace libperm::mpi
