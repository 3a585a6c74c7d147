// The subcommands. Each prints its answer and returns, or throws.
#pragma once

#include "options.hpp"

#include <perm.hpp>

#include <cstdint>
#include <string>
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

// ---------------------------------------------------------------- the picture of a plan

// By the name's ending: .svg, .png or .pdf. Throws Error for any other.
std::string plot_terminal(const std::string &file);

// For gnuplot. `picture`: of PERM_FORMAT_PICTURE.
std::string plot_script(const std::string &picture, const std::string &title, const std::string &terminal);

// What gnuplot writes to its standard output for the script. Throws Error.
std::string gnuplot(const std::string &script);

// A text as gnuplot takes it, within its quotes: valid UTF-8 on one line.
std::string quoted(const std::string &text);

} // namespace perm
