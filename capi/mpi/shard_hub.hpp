// Which rank runs which shard: what rank 0 knows and answers. It sees no MPI.
#pragma once

#include "capi/mpi/failure.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace libperm::mpi {

// What a rank tells, after a shard and now and then.
struct Report {
    std::int64_t finished = -1;    // the shard that `bytes` are of, if one is
    std::int64_t status = PERM_OK; // of it
    std::int64_t busy = 0;         // shards that the rank still has
    std::int64_t wanted = 0;       // more that it would have
    std::int64_t billionths = 0;   // of the shard that is running
    std::int64_t cancel = 0;       // its caller wants the call to stop
    std::int64_t size = 0;         // of the bytes
    std::string bytes = {};        // the partial result, or a failure's text
};

enum class Order : std::int64_t {
    work,   // on `count` shards more, from `first` on
    finish, // the one that is running, forget the others
    abort,  // that one as well
    leave
};
struct Reply {
    Order order = Order::work;
    std::int64_t first = 0, count = 0;
};

using Partials = std::map<std::int64_t, std::string>; // by shard

class ShardHub {
  public:
    ShardHub(std::int64_t shards, Partials known, int ranks);

    // Throws nothing but std::bad_alloc. None: the rank's answer is to wait until answer_waiting() has it.
    std::optional<Reply> answer(int rank, Report report);

    struct Answer {
        int rank;
        Reply reply;
    };
    std::vector<Answer> answer_waiting();

    // No shard is handed out any more, and those that are running are finished, or not even these.
    enum class Running { finish, abort };
    void stop(Failure why, Running running);

    bool is_over() const { return left_ == static_cast<int>(ranks_.size()); }
    const std::optional<Failure> &failure() const { return failure_; }
    bool is_complete() const { return static_cast<std::int64_t>(partials_.size()) == shards_; }

    const Partials &partials() const { return partials_; }
    double fraction() const; // of the work that is done

  private:
    struct Rank {
        std::set<std::int64_t> has; // shards
        std::int64_t busy = 0, wanted = 0, billionths = 0;
        bool is_waiting = false, is_left_out = false;
    };

    void take_result(int rank, Report report);
    void leave_out(int rank, Failure why);
    std::optional<Reply> reply_to(Rank &rank);
    Reply hand_out(Rank &rank);

    std::int64_t shards_;
    Partials partials_;
    std::vector<Rank> ranks_;
    std::int64_t next_ = 0; // to be handed out for the first time
    std::set<std::int64_t> returned_;
    int left_ = 0, left_out_ = 0;
    std::optional<Failure> failure_;
    Running running_ = Running::finish;
};

} // namespace libperm::mpi
