// The subcommands. Each prints its answer and returns, or throws.
#pragma once

#include "options.hpp"

#include <perm.hpp>

#include <cstdint>
#include <vector>

namespace perm {

void run_compute(const Options &options);
void run_hafnian(const Options &options);
void run_bounds(const Options &options);
void run_estimate(const Options &options);
void run_sample(const Options &options);
void require_shots(const Options &options);
// Of each shot the column of each row.
void write_samples(const Options &options, const std::vector<std::int64_t> &columns, const perm_csr &a,
                   double seconds);
void run_matchings(const Options &options);
void run_polynomial(const Options &options);
void run_periodic(const Options &options);
void run_explain(const Options &options);
void run_source(const Options &options);
void run_plan(const Options &options);
void run_shard(const Options &options);
void run_combine(const Options &options);
void run_status(const Options &options);
void run_info(const Options &options);
void run_cache_list(const Options &options);
void run_cache_clear(const Options &options);
void run_cache_path(const Options &options);

} // namespace perm
