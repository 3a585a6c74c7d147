// Where exceptions end and statuses begin: the one error path of the C API.
#pragma once

#include "capi/results.hpp"
#include "lib/base/error.hpp"
#include "lib/number/gmp_memory.hpp"

#include <perm.h>

#include <cstddef>
#include <new>
#include <string>

namespace capi {

// What perm_last_error tells from now on.
perm_status fail(perm_status status, const char *text) noexcept;
const char *last_error() noexcept;

// The one way from an exception to a status.
template <class Work> perm_status guarded(const Work &work) noexcept {
    try {
        libperm::keep_memory_for_gmp();
        work();
        return PERM_OK;
    } catch (const libperm::Error &e) {
        return fail(e.status(), e.what());
    } catch (const std::bad_alloc &) {
        return fail(PERM_OUT_OF_MEMORY, "the system refused an allocation that was within the memory limit; "
                                        "lower memory_limit_bytes or free memory");
    } catch (const std::exception &e) {
        return fail(PERM_INTERNAL, e.what());
    } catch (...) {
        return fail(PERM_INTERNAL, "an unknown exception");
    }
}

// `work` fills a cleared result; if it fails, the caller's is left cleared.
template <class Work> perm_status into(perm_result *result, const Work &work) noexcept {
    return guarded([&] {
        require_result(result);
        clear(*result);
        write_filled(*result, work);
    });
}

// make() into the caller's place for a handle; null there on failure. `what` is made: "plan".
template <class Handle, class Make>
perm_status made(Handle **place, const char *what, const Make &make) noexcept {
    if (place) *place = nullptr;
    return guarded([&] {
        if (!place)
            throw libperm::Error(PERM_BAD_ARGUMENT,
                                 "the place for the " + std::string(what) + " is a null pointer");
        *place = make().release();
    });
}

// As the header says of every call that writes a text or bytes.
void write_bytes(const char *bytes, std::size_t size, void *buffer, std::size_t capacity,
                 std::size_t *needed);
void write_text(const std::string &text, char *buffer, std::size_t capacity, std::size_t *needed);

bool is_json(perm_format format); // throws Error where it is neither that nor text

} // namespace capi
