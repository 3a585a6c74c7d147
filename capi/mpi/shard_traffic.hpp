// Reports to rank 0 and its replies, as messages. A rank has one report on its way at most, and is ready for
// the reply before it sends it: so nobody ever waits for one who waits.
#pragma once

#include "capi/mpi/communicator.hpp"
#include "capi/mpi/kept_partials.hpp"
#include "capi/mpi/shard_hub.hpp"
#include "capi/mpi/shard_worker.hpp"
#include "capi/mpi/watch.hpp"

namespace libperm::mpi {

// On rank 0, until all ranks have left. The partial results are the hub's, and so is a failure.
void serve(const Communicator &comm, ShardHub &hub, ShardWorker &own, Watch &watch, KeptPartials &kept);

// On the others, until rank 0 says so.
void serve_root(const Communicator &comm, ShardWorker &own, Watch &watch);

} // namespace libperm::mpi
