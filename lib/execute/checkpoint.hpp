// What stands in checkpoints (run/kept_pieces.hpp): the plan to go on with, as another machine might make
// another, and how far a task has come.
#pragma once

#include "lib/plan/plan.hpp"
#include "lib/run/call.hpp"

#include <string>

namespace libperm {

// make_plan, or the plan of the checkpoint that the options name, if they name one. Throws Error
// (PERM_BAD_OPTION) where that is of another matrix, or of another kind of task.
Plan make_kept_plan(InputPattern input, const Options &options, const Values &values,
                    GpuStart start = GpuStart::awaited);

// Of the file, of a computation or an estimate, for people or as JSON.
std::string checkpoint_text(const std::string &file);
std::string checkpoint_json(const std::string &file);

} // namespace libperm
