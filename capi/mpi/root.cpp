#include "capi/mpi/root.hpp"

#include "jit/text/text.hpp"
#include "lib/base/system.hpp"

#include <limits>

namespace libperm::mpi {

Root::Root(const perm_opts &opts, const MachineShare &share, Watch &watch)
    : opts_(opts),
      watch_(watch),
      checkpoint_(opts.checkpoint ? opts.checkpoint : ""),
      checkpoint_seconds_(opts.checkpoint_seconds) {
    if (!checkpoint_.empty()) opts_.checkpoint_seconds = 0; // it is kept here
    opts_.checkpoint = nullptr;
    opts_.time_limit_seconds = std::numeric_limits<double>::infinity(); // see refuse_what_takes_too_long
    if (opts_.memory_limit_bytes == 0) opts_.memory_limit_bytes = share.memory_bytes;
    opts_.cancel = Watch::is_to_stop;
    opts_.cancel_user = &watch_;
}

void Root::keep(const std::string &digest) {
    kept_ = std::make_unique<KeptPartials>(checkpoint_, checkpoint_seconds_, digest);
}

void Root::divide(std::int64_t shards, double seconds_of_one) {
    shards_ = shards;
    serial_seconds_ = seconds_of_one * static_cast<double>(shards);
    kept_->require_of(shards_);
}

void Root::refuse_what_takes_too_long(double limit, std::int64_t ranks, std::int64_t threads) const {
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

std::vector<perm_partial> Root::view_of(const Partials &partials) {
    std::vector<perm_partial> all;
    for (const auto &[shard, bytes] : partials) {
        perm_partial partial = PERM_PARTIAL_INIT;
        partial.bytes = const_cast<char *>(bytes.data()); // it is only read
        partial.size = bytes.size();
        all.push_back(partial);
    }
    return all;
}

} // namespace libperm::mpi
