// How the frontier computes a block: its rows in an order, which columns are open after each, and the slots
// of their states.
#pragma once

#include "lib/base/archive.hpp"
#include "lib/frontier/frontier_plan.hpp"

namespace libperm {

class Proposals;

// Adds what the frontier would take in either form, on a CPU and on a GPU.
void propose_frontier(Proposals &task, Engine self);
// The dense form past the memory of the CPU, or of the GPU, if that is worth its time: after all other
// engines.
void propose_slices(Proposals &task, Engine self);

// As bytes, and back. Throws DamagedField for what is no plan of the block's.
std::string saved_frontier(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_frontier(std::string_view bytes, int form, const PlanSource &of);
void check_frontier(const Candidate &c);
void save_slices(cereal::PortableBinaryOutputArchive &ar, const Candidate &c);
void load_slices(cereal::PortableBinaryInputArchive &ar, Candidate &c);

// The program of the first candidate in this form that has one; else null.
const FrontierProgram *program_of(const std::vector<Candidate> &candidates, FrontierForm form);

} // namespace libperm
