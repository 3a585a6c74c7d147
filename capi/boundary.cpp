#include "capi/boundary.hpp"

#include <algorithm>
#include <cstring>

namespace capi {
namespace {

using libperm::Error;

// A fixed buffer: telling of a failure must not fail.
thread_local char error_text[2048] = "";

} // namespace

const char *last_error() noexcept { return error_text; }

perm_status fail(perm_status status, const char *text) noexcept {
    const std::size_t length = std::min(std::strlen(text), sizeof(error_text) - 1);
    std::memcpy(error_text, text, length);
    error_text[length] = '\0';
    return status;
}

void write_bytes(const char *bytes, std::size_t size, void *buffer, std::size_t capacity,
                 std::size_t *needed) {
    if (needed) *needed = size;
    if (!buffer && capacity == 0) return;
    if (!buffer) throw Error(PERM_BAD_ARGUMENT, "buffer is a null pointer, but capacity is not 0");
    if (capacity < size)
        throw Error(PERM_BAD_ARGUMENT,
                    "the buffer is too small: " + std::to_string(size) + " bytes are needed");
    std::memcpy(buffer, bytes, size);
}

void write_text(const std::string &text, char *buffer, std::size_t capacity, std::size_t *needed) {
    write_bytes(text.c_str(), text.size() + 1, buffer, capacity, needed);
}

bool is_json(perm_format format) {
    if (format != PERM_FORMAT_TEXT && format != PERM_FORMAT_JSON)
        throw Error(PERM_BAD_ARGUMENT, "format is neither PERM_FORMAT_TEXT nor PERM_FORMAT_JSON");
    return format == PERM_FORMAT_JSON;
}

} // namespace capi
