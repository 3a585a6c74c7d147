// The rule by which the public structs grow: a caller's struct begins with its own size.
#pragma once

#include "lib/base/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace libperm {

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
