// What perm_record_host plays on the host, kind by kind. The files that do it are the only ones that know the
// library's inner names.
#pragma once

#include "bench/record/lines.hpp"

void record_subsets(RecordLines &to);  // kernels that sum over subsets, in all arithmetics
void record_frontier(RecordLines &to); // dense and sparse, whole and in slices
void record_tapes(RecordLines &to);    // batches of small matrices
