// What is certain all the same where an exact computation is refused.
#pragma once

#include "lib/base/error.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"

#include <perm.h>

#include <string>

namespace capi {

// "\n  perm(A) lies between ...", or nothing where that would take more than there is. Throws nothing.
std::string interval_beside(const libperm::Options &options, const perm_csr *a) noexcept;
std::string interval_beside(const libperm::Options &options, const libperm::InputPattern &input,
                            const void *values) noexcept;

// `work`; a refusal's text ends with what interval_beside(options, matrix...) says.
template <class Work, class... Matrix>
void telling_interval(const libperm::Options &options, const Work &work, const Matrix &...matrix) {
    try {
        work();
    } catch (const libperm::Error &error) {
        if (error.status() != PERM_REFUSED_TIME && error.status() != PERM_REFUSED_MEMORY) throw;
        throw libperm::Error(error.status(), error.what() + interval_beside(options, matrix...));
    }
}

} // namespace capi
