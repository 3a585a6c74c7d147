// What the subcommands print, those of perm-mpi too.
#pragma once

#include "job.hpp"
#include "lib/base/json.hpp"
#include "options.hpp"
#include "output.hpp"

#include <cstdint>
#include <optional>
#include <perm.hpp>
#include <string>
#include <vector>

namespace perm {

struct Seconds {
    double total, read, check, plan, run;
};

// mantissa * 2^exp2, "1.2346e+21": rounded down (-1), to nearest (0) or up (1), exactly.
std::string scientific(double mantissa, std::int64_t exp2, int digits, int direction = 0);

// Of which matrix an answer is, and in what time.
void put_matrix(libperm::Json &out, const perm_csr &a, libperm::Json seconds);

// All that is told of a result, but for its plan.
libperm::Json json_of(const Options &options, const perm_result &result, const Seconds &seconds);
std::string text_of(const Options &options, const std::string &matrix, const perm_result &result,
                    const Seconds &seconds);

// Of the matrix of that name; `plan` is its explanation in JSON, needed only for an answer in JSON.
void write_answer(const Options &options, const std::string &matrix, const perm_result &result,
                  const Seconds &seconds, const std::string &plan);

// Several numbers, each with its place, and with a bound of its error where it is not exact; in JSON they are
// `key`.
void write_numbers(const Options &options, const std::vector<Result> &numbers, const char *key,
                   const perm_csr &a, double seconds);

void warn_if_missed(const Options &options, const perm_result &result); // the tolerance

// ---------------------------------------------------------------- estimates

// As the options say.
perm_estimate_opts wanted_estimate(const Options &options);

// With progress, which shows the interval as it closes.
perm_estimated make_estimate(const Options &options, const perm_csr &a, perm_opts opts);

// Of a matrix of that shape. `refusal`: why it is no computation; "" where none was asked for.
void write_estimate(const Options &options, const perm_estimated &found, const perm_csr &a, double seconds,
                    const std::string &refusal = "");

// What perm periodic and perm-mpi periodic share: the matrix of their files, and what they print.

struct PeriodicAnswer {
    std::optional<Result> result; // of --length
    Seconds seconds{};
    std::vector<Result> terms;
    std::string function; // in the format asked for, as the plan
    std::optional<Periodic::Growth> growth;
    std::string plan;
};

Periodic periodic_plan(const Options &options, const perm_opts &opts);

// Results are the caller's: no limit of the library's is asked before they are there.
void require_room(const Options &options);

// The lengths of one task: --length, or --terms. Throws Error unless one of them is all that is asked for.
struct Lengths {
    std::int64_t first, count;
};
Lengths lengths_of(const Options &options);

void write_periodic(const Options &options,
                    PeriodicAnswer answer); // with a warning where the tolerance is missed

} // namespace perm
