// What a task is made of, as a caller gives it or as it was saved; and what a caller's perm_periodic_plan
// points to.
#pragma once

#include "capi/saved_task.hpp"
#include "lib/input/option_table.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/run/task_parts.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <perm.h>
#include <string>
#include <string_view>

struct perm_periodic_plan {
    libperm::PeriodicPlan plan;
    capi::TaskSource source; // of its tasks, but for their lengths and their way
    // Found once: a text is asked for twice, of what size it is and then what it says.
    mutable std::mutex function_mutex;
    mutable std::optional<libperm::GeneratingFunction> function;
};

namespace capi {

// Throws Error of a null pointer, or of one with options that do not count for the call.
void require_executable(const perm_periodic_plan *plan, libperm::ApiCall call);

std::unique_ptr<perm_periodic_plan> periodic_plan(const perm_periodic *a, const perm_opts *opts);

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
