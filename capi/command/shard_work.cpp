#include "shard_work.hpp"

#include "estimate_answer.hpp"

#include "lib/base/json.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace perm {

bool is_estimate(const PartFile &part) { return part.plan.plan.starts_with("PERMTASK"); }

ShardWork::ShardWork(const std::string &file, const PartFile &part, const perm_opts &opts) {
    values_.emplace(part.values, part.plan.pattern.value_type);
    if (!is_estimate(part)) {
        plan_.emplace(load_plan(file, part.plan, opts));
        task_.emplace(Task::plan(*plan_, values_->data()));
        return;
    }
    try {
        task_.emplace(Task::load(part.plan.plan, opts));
        perm_csr a = part.plan.pattern.csr();
        a.values = values_->data();
        check(perm_task_check_matrix(task_->raw(), &a));
    } catch (const Error &error) {
        throw Error(error.status(), fmt::format("{}: {}", file, error.what()));
    }
}

// A shard of a frontier, or on a GPU, has work for all threads, as one of an estimate's samples; another for
// one.
int ShardWork::runners(std::int64_t count) const {
    if (!plan_) return 1;
    const auto about = libperm::Json::read(plan_->explain(PERM_FORMAT_JSON));
    if (about.at("device") != "cpu" || about.at("engine") == "frontier") return 1;
    return static_cast<int>(std::min<std::int64_t>(count, about.integer("threads")));
}

Task estimate_of(const PartFile &part, const Options &options, const perm_opts &opts) {
    const ValuesView values(part.values, part.plan.pattern.value_type);
    perm_csr a = part.plan.pattern.csr();
    a.values = values.data();
    return Task::estimate(a, wanted_estimate(options), opts);
}

} // namespace perm
