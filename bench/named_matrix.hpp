// Matrices to measure with, by name.
#pragma once

#include <perm.hpp>

#include <functional>
#include <optional>
#include <string>

struct Matrix {
    std::string name;
    std::string source; // the file, or "generated"
    std::function<perm::Csr()> load;
};

// A file, a file of PERM_MATRIX_DIR without folder and suffix, or a member of a family: its name and its
// numbers, as in grid8x8 and er40_30.
std::optional<Matrix> find_matrix(const std::string &name);
