// What a call of the C API comes to: its status, and a result that a failure has cleared.
#pragma once

#include <perm.hpp>

#include <cstring>

inline perm_status status_of(const perm_csr &a, const perm_opts &opts = PERM_OPTS_INIT) {
    perm::Result r;
    return perm_compute(&a, &opts, r.raw());
}

inline bool cleared(const perm_result &r) {
    perm_result empty = PERM_RESULT_INIT;
    return std::memcmp(&r, &empty, sizeof r) == 0;
}
