// The rule by which the public structs grow: a caller's struct begins with its own size.
#pragma once

#include "lib/error.hpp"

#include <cstddef>

namespace libperm {

// An older caller's struct is too small to be one; a newer caller's may set fields this library does not
// know, and those must not be ignored. Throws Error.
template <class Struct> void require_known(const Struct &s, const char *name) {
    const std::string of = std::string(name) + ".struct_size is " + std::to_string(s.struct_size);
    if (s.struct_size < sizeof(Struct))
        throw Error(PERM_BAD_ARGUMENT, of + ", it must be at least " + std::to_string(sizeof(Struct)) +
                                           ": start from the struct's _INIT macro");
    if (s.struct_size > 4096) throw Error(PERM_BAD_ARGUMENT, of + ": not a size it can have");
    const auto *bytes = reinterpret_cast<const unsigned char *>(&s);
    for (std::size_t k = sizeof(Struct); k < s.struct_size; ++k)
        if (bytes[k] != 0)
            throw Error(PERM_BAD_OPTION, std::string(name) +
                                             " sets a field that this version of libperm does not "
                                             "know; update libperm");
}

} // namespace libperm
