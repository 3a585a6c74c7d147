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

// What another way may have room for, or be able to do.
inline bool is_refused(const Error &error) {
    return error.status() == PERM_REFUSED_MEMORY || error.status() == PERM_UNSUPPORTED;
}

// Of work that can be done without: whether it came to its end, and no limit stopped it. `goes_on`: a call
// that its time limit stops is gone on with another time, so that limit is an error as any other.
template <class Work> bool within_limits(const Work &work, bool goes_on = false) {
    try {
        work();
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    } catch (const Error &error) {
        if (!is_limit(error.status()) || (goes_on && error.status() == PERM_REFUSED_TIME)) throw;
        return false;
    }
}

} // namespace libperm
