// A matrix's pattern as the library reads it.
#pragma once

#include "lib/input/matrix.hpp"

#include <perm.hpp>

inline libperm::Pattern pattern_of(const perm::Csr &a) {
    const perm_csr view = a.view();
    return libperm::read_pattern(&view).pattern;
}
