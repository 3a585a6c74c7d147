// What compute and combine print.
#pragma once

#include "options.hpp"

#include <perm.h>

#include <string>

namespace perm {

struct Seconds {
    double total, read, check, plan, run;
};

// Of the matrix of that name; `plan` is its explanation in JSON, needed only for an answer in JSON.
void write_answer(const Options &options, const std::string &matrix, const perm_result &result,
                  const Seconds &seconds, const std::string &plan);

} // namespace perm
