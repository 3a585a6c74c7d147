// What perm periodic and perm-mpi periodic share: the matrix of their files, and what they print.
#pragma once

#include "answer.hpp"
#include "job.hpp"
#include "options.hpp"
#include "output.hpp"

#include <perm.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perm {

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
