#include "capi/mpi/shard_job.hpp"

#include "lib/base/archive.hpp"
#include "lib/input/matrix.hpp"

#include <algorithm>
#include <string_view>

namespace libperm::mpi {
namespace {

class PlanJob final : public ShardJob {
  public:
    PlanJob(const std::string &plan, const void *values, const perm_opts &opts)
        : values_(values), plan_(perm::Plan::load(plan, opts)) {}

    std::int64_t shards() const override { return plan_.shards(); }
    double shard_seconds() const override { return plan_.shard_seconds(); }
    std::string run_shard(std::int64_t number) const override { return plan_.run_shard(values_, number); }
    double fraction_of_shard(double told) const override { // told of the whole plan
        return told * static_cast<double>(plan_.shards());
    }

  private:
    const void *values_;
    perm::Plan plan_;
};

class EstimateJob final : public ShardJob {
  public:
    EstimateJob(std::string_view task, const void *values, const perm_opts &opts)
        : task_(read_from<EstimateTask>(task)),
          estimation_(task_.csr(values), task_.wish.wanted(), task_.wish.options(opts)) {}

    std::int64_t shards() const override { return estimation_.shards(); }
    double shard_seconds() const override { return estimation_.shard_seconds(); }
    std::string run_shard(std::int64_t number) const override { return estimation_.run_shard(number); }
    double fraction_of_shard(double told) const override { return told; }

  private:
    EstimateTask task_;
    perm::Estimation estimation_;
};

std::vector<std::int64_t> indexes(const void *first, std::int64_t count, std::int32_t type) {
    std::vector<std::int64_t> out;
    for (std::int64_t k = 0; first && k < count; ++k)
        out.push_back(type == PERM_INDEX_I32 ? static_cast<const std::int32_t *>(first)[k]
                                             : static_cast<const std::int64_t *>(first)[k]);
    return out;
}

} // namespace

EstimateTask::EstimateTask(const perm_csr &a, const perm_opts &opts, const perm_estimate_opts &asked)
    : n_rows(a.n_rows),
      n_cols(a.n_cols),
      value_type(a.value_type),
      row_weights(a.row_unmatched != nullptr),
      col_weights(a.col_unmatched != nullptr),
      row_ptr(indexes(a.row_ptr, a.n_rows + 1, a.index_type)),
      col_idx(indexes(a.col_idx, a.nnz, a.index_type)),
      row_multiplicity(indexes(a.row_multiplicity, a.n_rows, PERM_INDEX_I64)),
      col_multiplicity(indexes(a.col_multiplicity, a.n_cols, PERM_INDEX_I64)),
      wish(opts, asked) {}

perm_csr EstimateTask::csr(const void *values) const {
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = n_rows;
    a.n_cols = n_cols;
    a.nnz = std::ssize(col_idx);
    a.row_ptr = row_ptr.empty() ? nullptr : row_ptr.data();
    a.col_idx = col_idx.data();
    a.index_type = PERM_INDEX_I64;
    a.value_type = static_cast<std::int32_t>(value_type);
    a.row_multiplicity = row_multiplicity.empty() ? nullptr : row_multiplicity.data();
    a.col_multiplicity = col_multiplicity.empty() ? nullptr : col_multiplicity.data();
    // The weights of unmatched lines stand behind the values; of a pattern none is read.
    const bool is_pattern = value_type == PERM_VALUE_PATTERN;
    const std::size_t size = is_pattern ? 0 : size_of(static_cast<perm_value_type>(value_type));
    const auto *bytes = is_pattern ? reinterpret_cast<const char *>(this) : static_cast<const char *>(values);
    a.values = is_pattern ? nullptr : values;
    const auto behind = [&](std::int64_t count) { return bytes + size * static_cast<std::size_t>(count); };
    if (row_weights != 0) a.row_unmatched = behind(a.nnz);
    if (col_weights != 0) a.col_unmatched = behind(a.nnz + (row_weights != 0 ? n_rows : 0));
    return a;
}

void Task::broadcast(const Communicator &comm) {
    for (std::string *bytes : {&plan, &estimate, &values}) comm.broadcast(*bytes);
    for (std::int64_t *number : {&value_type, &on_gpu}) comm.broadcast(*number);
}

std::unique_ptr<const ShardJob> job_of(const Task &task, const ValueView &values, const perm_opts &opts) {
    if (task.estimate.empty()) return std::make_unique<PlanJob>(task.plan, values.data(), opts);
    return std::make_unique<EstimateJob>(task.estimate, values.data(), opts);
}

} // namespace libperm::mpi
