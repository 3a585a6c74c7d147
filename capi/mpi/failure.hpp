// An exception as something that can be sent.
#pragma once

#include "lib/base/error.hpp"

#include <perm.h>

#include <exception>
#include <new>
#include <optional>
#include <string>

namespace libperm::mpi {

struct Failure {
    perm_status status = PERM_OK;
    std::string text;
};

// What `work` threw, if it did.
template <class Work> std::optional<Failure> failure_of(const Work &work) {
    try {
        work();
        return {};
    } catch (const Error &error) {
        return Failure{error.status(), error.what()};
    } catch (const std::bad_alloc &) {
        return Failure{PERM_OUT_OF_MEMORY, "the system refused an allocation that was within the memory "
                                           "limit; lower memory_limit_bytes or free memory"};
    } catch (const std::exception &error) {
        return Failure{PERM_INTERNAL, error.what()};
    }
}

// Of a call of perm.h.
inline void check(perm_status status) {
    if (status != PERM_OK) throw Error(status, perm_last_error());
}

} // namespace libperm::mpi
