// The benchmark of the reductions, in the form of SUperman's Table 5.
#pragma once

#include "bench/named_matrix.hpp"

#include <vector>

struct DecompositionSettings {
    int runs = 5, threads = 0;
    double time_limit = 600; // of one run, in seconds
};

// For each matrix: no reduction, Dulmage-Mendelsohn, Forbert-Marx as published, both, and what the cost model
// chooses; with the regret of the last: how much longer it takes than the best of the others.
void print_decompositions(const std::vector<Matrix> &matrices, const DecompositionSettings &settings);

double median(std::vector<double> values);
