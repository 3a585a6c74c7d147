// The kernels' parts that no pattern changes: the files of jit/device, embedded when the library is built.
#pragma once

namespace libperm {

extern const char *const number_cuh;
extern const char *const partial_cuh;
extern const char *const terms_cuh;
extern const char *const gray_walk_cuh;
extern const char *const tree_walk_cuh;
extern const char *const derivative_cuh;
extern const char *const select_cuh;
extern const char *const accurate_cuh;
extern const char *const rows_dense_cuh;
extern const char *const rows_shared_cuh;
extern const char *const shared_rows_cuh;
extern const char *const frontier_number_cuh;
extern const char *const frontier_dense_cuh;
extern const char *const chained_tiles_cuh;
extern const char *const balanced_path_cuh;
extern const char *const frontier_sparse_cuh;
extern const char *const frontier_join_cuh;
extern const char *const period_table_cuh;
extern const char *const period_bracket_cuh;
extern const char *const tape_cuh;
extern const char *const left_out_cuh;
extern const char *const gradient_cuh;
extern const char *const minors_cuh;
extern const char *const walk_value_cuh;
extern const char *const matching_walk_cuh;
extern const char *const bet_tally_cuh;
extern const char *const set_tables_cuh;
extern const char *const hafnian_sum_cuh;
extern const char *const sieve_walk_cuh;

// Of all that writes kernels: one of another generator is not taken for one of this.
extern const char *const generator_digest;

} // namespace libperm
