// The kinds of tasks: each made of a caller's arguments, or of what another process saved.
#pragma once

#include "capi/task.hpp"
#include "capi/task_source.hpp"

#include <perm.h>

#include <cstdint>
#include <memory>

namespace capi {

std::unique_ptr<perm_task> plan_task(const perm_plan *plan, const void *values);
std::unique_ptr<perm_task> plan_task(TaskSource source, const perm_opts *opts);

std::unique_ptr<perm_task> estimate_task(const perm_csr *a, const perm_opts *opts,
                                         const perm_estimate_opts *wanted);
std::unique_ptr<perm_task> estimate_task(const TaskSource &source, const perm_opts *opts);

std::unique_ptr<perm_task> matching_task(const perm_csr *a, const perm_opts *opts);
std::unique_ptr<perm_task> matching_task(TaskSource source, const perm_opts *opts);

std::unique_ptr<perm_task> polynomial_task(const perm_csr *a, const void *linear, const perm_opts *opts);
std::unique_ptr<perm_task> polynomial_task(TaskSource source, const perm_opts *opts);

std::unique_ptr<perm_task> gradient_task(const perm_plan *plan, const void *values);
std::unique_ptr<perm_task> gradient_task(TaskSource source, const perm_opts *opts);

std::unique_ptr<perm_task> minors_task(const perm_dense *a, const perm_opts *opts);
std::unique_ptr<perm_task> minors_task(TaskSource source, const perm_opts *opts);
std::unique_ptr<perm_task> periodic_task(const perm_periodic_plan *plan, std::int64_t first,
                                         std::int64_t count);
std::unique_ptr<perm_task> periodic_task(const TaskSource &source, const perm_opts *opts);
std::unique_ptr<perm_task> sample_task(const perm_csr *a, const perm_opts *opts, std::int64_t shots,
                                       std::uint64_t seed);
std::unique_ptr<perm_task> sample_task(TaskSource source, const perm_opts *opts);

std::unique_ptr<perm_task> photon_task(const perm_boson *a, const perm_opts *opts, std::int64_t shots,
                                       std::uint64_t seed);
std::unique_ptr<perm_task> photon_task(TaskSource source, const perm_opts *opts);

std::unique_ptr<perm_task> batch_task(const perm_plan *plan, const void *values, std::int64_t stride,
                                      std::int64_t count);
std::unique_ptr<perm_task> batch_task(TaskSource source, const perm_opts *opts);

void require_place(const perm_estimated *estimate); // throws Error

} // namespace capi
