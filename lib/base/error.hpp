// The one kind of exception inside the library: a status and what to do about it, in words; and what is
// thrown where a caller's struct is none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <perm.h>
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

// The struct as this version knows it. One that is smaller than the first version's was never made by an
// _INIT macro; fields that an older caller does not have are 0, the default; fields that this library does
// not know must not be set, for they must not be ignored. Throws Error.
template <class Struct> Struct read_known(const Struct &s, std::size_t first_version, const char *name) {
    const std::string of = std::string(name) + ".struct_size is " + std::to_string(s.struct_size);
    if (s.struct_size < first_version)
        throw Error(PERM_BAD_ARGUMENT, of + ", it must be at least " + std::to_string(first_version) +
                                           ": start from the struct's _INIT macro");
    if (s.struct_size > 4096) throw Error(PERM_BAD_ARGUMENT, of + ": not a size it can have");
    const auto *bytes = reinterpret_cast<const unsigned char *>(&s);
    for (std::size_t k = sizeof(Struct); k < s.struct_size; ++k)
        if (bytes[k] != 0)
            throw Error(PERM_BAD_OPTION, std::string(name) +
                                             " sets a field that this version of libperm does not "
                                             "know; update libperm");
    Struct known{};
    std::memcpy(static_cast<void *>(&known), &s, std::min(s.struct_size, sizeof(Struct)));
    return known;
}

} // namespace libperm
