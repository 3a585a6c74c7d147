// The one kind of exception inside the library: a status and what to do about it, in words.
#pragma once

#include <perm.h>

#include <new>
#include <stdexcept>
#include <string>

namespace libperm {

class Error : public std::runtime_error {
  public:
    Error(perm_status status, const std::string &text) : std::runtime_error(text), status_(status) {}
    perm_status status() const noexcept { return status_; }

  private:
    perm_status status_;
};

// What another way of computing the same may not run into.
inline bool is_limit(perm_status status) {
    return status == PERM_REFUSED_TIME || status == PERM_REFUSED_MEMORY || status == PERM_OUT_OF_MEMORY ||
           status == PERM_GPU_FAILED || status == PERM_UNSUPPORTED;
}

// Of work that can be done without: whether it came to its end, and no limit stopped it.
template <class Work> bool within_limits(const Work &work) {
    try {
        work();
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    } catch (const Error &error) {
        if (!is_limit(error.status())) throw;
        return false;
    }
}

} // namespace libperm
