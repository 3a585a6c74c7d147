// What a caller's perm_task points to: a task of the library with what it is run by.
#pragma once

#include "lib/input/option_table.hpp"
#include "lib/input/options.hpp"
#include "lib/run/task.hpp"

#include <perm.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace capi {

// What an answer takes of the caller's.
struct Room {
    std::int64_t results = 0;
    bool estimate = false;
    std::int64_t numbers = 0, bounds = 0, columns = 0;
};

} // namespace capi

struct perm_task {
    perm_task() = default;
    perm_task(const perm_task &) = delete;
    perm_task &operator=(const perm_task &) = delete;
    virtual ~perm_task() = default;

    libperm::ShardCount shards() const;
    std::string run_shard(std::int64_t number) const;

    virtual capi::Room room() const = 0;
    std::int64_t results() const { return room().results; }
    virtual void run(const perm_answer &answer) const = 0;
    virtual void combine(std::span<const std::string_view> partials, const perm_answer &answer) const = 0;
    virtual std::string saved() const = 0;
    virtual std::string explain(perm_format format) const;
    virtual std::string difference(const perm_csr &a) const = 0; // to its matrix, in words; none: ""

    // The call that made it, and whose limits count for what is done with it in the same call, is over: from
    // now on each has limits of its own.
    void outlive_call() { call_.reset(); }

  protected:
    // work(control), of the call.
    template <class Work> void controlled(const Work &work) const {
        if (call_) return work(*call_);
        libperm::RunControl control(options());
        work(control);
    }

    using Work = std::function<void(const libperm::Task &)>;

    virtual const libperm::Options &options() const = 0;
    virtual libperm::Call shard_call() const = 0; // whose options count
    // work(the library's task), which is divided into shards.
    virtual void with_task(libperm::RunControl &control, const Work &work) const = 0;
    // work(); a refusal tells the interval (capi/interval_beside.hpp).
    virtual void telling_interval(const std::function<void()> &work) const { work(); }

    std::unique_ptr<libperm::RunControl> call_;
};
