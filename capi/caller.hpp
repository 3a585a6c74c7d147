// Where a caller's structs meet the library: results of any version, cleared and filled, how long a call
// takes, and the one way from exceptions to statuses.
#pragma once

#include "lib/base/error.hpp"
#include "lib/glynn/multiplicities/exact_multiplicities.hpp"
#include "lib/input/options.hpp"
#include "lib/number/gmp_memory.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/results.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <perm.h>
#include <string>
#include <utility>

namespace capi {

inline constexpr perm_result no_result = PERM_RESULT_INIT;

// Throws Error (PERM_BAD_ARGUMENT) if there is none, or of no version.
void require_result(const perm_result *result);

// What the caller's struct, which may be of an older version, has room for.
void write(perm_result &result, const perm_result &all) noexcept;
void clear(perm_result &result) noexcept;

// Of a batch: the caller's may be of another version. All are of one, or Error is thrown.
perm_result &result_at(perm_result *results, std::int64_t k);
void require_alike(perm_result *results, std::int64_t count);

// Of `count` results (none: null), cleared before they are filled and unless they are kept. Throws Error as
// require_alike.
class ClearedOnFailure {
  public:
    ClearedOnFailure(perm_result *results, std::int64_t count)
        : results_(results), count_(results && count > 0 ? count : 0) {
        if (count_ > 0) {
            require_result(results);
            require_alike(results, count);
        }
        clear_all();
    }
    ~ClearedOnFailure() { clear_all(); }
    ClearedOnFailure(const ClearedOnFailure &) = delete;
    ClearedOnFailure &operator=(const ClearedOnFailure &) = delete;
    void keep() { count_ = 0; }

  private:
    void clear_all() const {
        for (std::int64_t k = 0; k < count_; ++k) clear(result_at(results_, k));
    }

    perm_result *results_;
    std::int64_t count_;
};

// Into the caller's what fill(a cleared result) has filled; what is thrown leaves it as it is, and nothing
// behind.
template <class Fill> void write_filled(perm_result &to, const Fill &fill) {
    perm_result filled = PERM_RESULT_INIT;
    try {
        fill(filled);
    } catch (...) {
        clear(filled);
        throw;
    }
    write(to, filled);
}

// As a caller gets texts: with malloc, to be freed.
char *copy_of(const std::string &text);

// Into cleared results.
void fill(perm_result &result, const libperm::Plan &plan, const libperm::Outcome &outcome,
          const libperm::Answer &answer);
// Without the order and the entries of the matrix.
void fill(perm_result &result, const libperm::Options &options, const libperm::Outcome &outcome,
          const libperm::Answer &answer);
void fill(perm_result &result, const libperm::Plan &plan, const libperm::Outcome &outcome);
void fill(perm_result &result, const libperm::Options &options, libperm::ExactMultiplicities kinds);

libperm::Answer answer_of(const libperm::Plan &plan, const libperm::Outcome &outcome);

// How long the parts of a call take.
class Stopwatch {
  public:
    double lap() { // seconds since the last lap
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

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
