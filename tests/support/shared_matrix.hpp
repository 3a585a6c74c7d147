// The matrices that lie beside the repository, not in it.
#pragma once

#include <perm.hpp>

#include <string>

// Reads `name`.mtx from PERM_MATRIX_DIR, else from ../shared/matrices beside the source. When there is no
// such file it announces a skip and returns false; a file that is there but cannot be read throws.
bool shared_matrix(const std::string &name, perm::Csr &a);
