// What perm_record_host plays on the host, kind by kind. The files that do it are the only ones that know the
// library's inner names.
#pragma once

#include "bench/record/lines.hpp"

void record_subsets(RecordLines &to);  // kernels that sum over subsets, in all arithmetics
void record_frontier(RecordLines &to); // dense and sparse, whole and in slices
void record_tapes(RecordLines &to);    // batches of small matrices
void record_minors(RecordLines &to);   // gradients and sub-permanents, by sums with a factor left out
void record_periodic(RecordLines &to); // tables, walks round loops, growth, products of full matrices
void record_sets(RecordLines &to);     // marginals by tables over sets
void record_walks(RecordLines &to);    // samples of an estimate, and what bets need to know of them
