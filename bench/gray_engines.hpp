// The benchmark of the engines on a GPU, in the form of Table III of the code-generation paper.
#pragma once

#include "bench/named_matrix.hpp"

#include <string>
#include <vector>

struct GraySettings {
    std::vector<std::string> engines; // "hybrid", ... or with "/equal" behind it: chunks of equal length;
                                      // "tree/gpu", "tree/cpu": on that device
    int runs = 3;
    double time_limit = 3600; // of one run, in seconds
    std::string without;      // reductions
};

// For each matrix and engine: seconds of the kernels and transfers (the median, least and greatest of the
// runs), and from the pattern to the loaded kernel in the first call and in the second; then ratios of the
// medians to those of the engine named first, and how far the answers are apart.
void print_gray_engines(const std::vector<Matrix> &matrices, const GraySettings &settings);
