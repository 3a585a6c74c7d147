// A caller's results: of which version they are, cleared and filled.
#pragma once

#include "lib/glynn/multiplicities/exact_multiplicities.hpp"
#include "lib/input/options.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/answer.hpp"

#include <perm.h>

#include <cstdint>
#include <string>

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

} // namespace capi
