// A computation with a checkpoint, or without one (kept_pieces.hpp). The plan is in the file, as another
// machine might make another.
#pragma once

#include "lib/plan/plan.hpp"
#include "lib/run/outcome.hpp"
#include "lib/run/run_control.hpp"

#include <string>

namespace libperm {

// make_plan and execute, going on from the checkpoint that the options name, if they name one. Throws Error
// (PERM_BAD_OPTION) where that is of another matrix, plan or values.
Plan make_kept_plan(InputPattern input, const Options &options, const Values &values, RunControl &control);
Outcome execute_kept(const Plan &plan, const Values &values, RunControl &control);

// Of the file, of a computation or an estimate, for people or as JSON.
std::string checkpoint_text(const std::string &file);
std::string checkpoint_json(const std::string &file);

} // namespace libperm
