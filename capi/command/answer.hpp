// What compute and combine print.
#pragma once

#include "options.hpp"

#include "lib/base/json.hpp"

#include <perm.h>

#include <string>

namespace perm {

struct Seconds {
    double total, read, check, plan, run;
};

// All that is told of a result, but for its plan.
libperm::Json json_of(const Options &options, const perm_result &result, const Seconds &seconds);
std::string text_of(const Options &options, const std::string &matrix, const perm_result &result,
                    const Seconds &seconds);

// Of the matrix of that name; `plan` is its explanation in JSON, needed only for an answer in JSON.
void write_answer(const Options &options, const std::string &matrix, const perm_result &result,
                  const Seconds &seconds, const std::string &plan);

void warn_if_missed(const Options &options, const perm_result &result); // the tolerance

} // namespace perm
