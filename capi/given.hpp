// What a task is made of, as a caller gives it or as it was saved.
#pragma once

#include "capi/task_source.hpp"
#include "lib/run/task_parts.hpp"

#include <perm.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace capi {

// The arguments of a call: of each kind of task some of these. `count`: of a batch's matrices, or of terms.
struct Given {
    std::string_view kind; // one of TaskIdentity's
    const perm_opts *opts = nullptr;
    const std::string *way = nullptr; // in which the same task was begun elsewhere; null: it is to be chosen
    const perm_csr *matrix = nullptr;
    const void *linear = nullptr;
    const perm_dense *dense = nullptr;
    const perm_boson *photons = nullptr;
    const perm_plan *plan = nullptr;
    const void *values = nullptr;
    std::int64_t stride = 0, count = 1;
    const perm_periodic_plan *periodic = nullptr;
    std::int64_t first = 0;
    const perm_estimate_opts *wanted = nullptr;
    std::int64_t shots = 0;
    std::uint64_t seed = 0;

    bool is_of_plan() const {
        using libperm::TaskIdentity;
        return kind == TaskIdentity::plan || kind == TaskIdentity::derivatives || kind == TaskIdentity::batch;
    }
    bool is_periodic() const { return kind == libperm::TaskIdentity::periodic; }
};

// With which another process makes the same; `way`: the plan() of the task that was made of it.
TaskSource source_of(const Given &given, const std::string &way);

// A source with what a caller would give for it.
class Saved {
  public:
    // Of the caller's options counts what the answer does not follow from. Throws Error.
    Saved(TaskSource source, const perm_opts *opts);
    ~Saved();
    Saved(const Saved &) = delete;
    Saved &operator=(const Saved &) = delete;

    const Given &given() const { return given_; } // valid as long as this is

  private:
    void give_plan(const perm_opts *opts);
    void give_matrix();
    void give_photons();

    const TaskSource source_;
    const perm_opts opts_;
    const perm_estimate_opts wanted_;
    const perm_csr matrix_;
    const perm_dense dense_;
    perm_boson photons_ = PERM_BOSON_INIT;
    std::unique_ptr<const perm_plan> plan_;
    std::unique_ptr<const perm_periodic_plan> periodic_;
    Given given_;
};

} // namespace capi
