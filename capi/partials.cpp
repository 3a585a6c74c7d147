#include "capi/partials.hpp"

#include "capi/results.hpp"
#include "lib/base/error.hpp"

#include <cstdlib>

namespace capi {
namespace {

using libperm::Error;

void require_version(const perm_partial &partial) {
    if (partial.struct_size < sizeof(perm_partial))
        throw Error(PERM_BAD_ARGUMENT, "perm_partial.struct_size is too small: start from PERM_PARTIAL_INIT");
}

} // namespace

void clear(perm_partial &partial) {
    require_version(partial);
    std::free(partial.bytes);
    partial.bytes = nullptr;
    partial.size = 0;
}

perm_partial &cleared(perm_partial *partial) {
    if (!partial) throw Error(PERM_BAD_ARGUMENT, "the place for the partial result is a null pointer");
    clear(*partial);
    return *partial;
}

void put(const std::string &bytes, perm_partial &partial) {
    partial.bytes = copy_of(bytes);
    partial.size = bytes.size();
}

std::vector<std::string_view> bytes_of(const perm_partial *partials, std::int64_t count) {
    if (count < 0 || (count > 0 && !partials))
        throw Error(PERM_BAD_ARGUMENT, "the partial results are a null pointer, or less than none");
    std::vector<std::string_view> bytes;
    for (std::int64_t k = 0; k < count; ++k) {
        // The caller's may be of another version.
        const auto &partial = *reinterpret_cast<const perm_partial *>(
            reinterpret_cast<const char *>(partials) + static_cast<std::size_t>(k) * partials->struct_size);
        require_version(partial);
        if (!partial.bytes && partial.size > 0)
            throw Error(PERM_BAD_ARGUMENT, "a partial result is a null pointer");
        bytes.emplace_back(static_cast<const char *>(partial.bytes), partial.size);
    }
    return bytes;
}

} // namespace capi
