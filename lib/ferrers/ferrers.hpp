// Engine `ferrers`: the permanent of nested rows as a product.
//
// Where each row's columns are among the next one's, c_1 <= c_2 <= ..., and the entries are u_i v_j,
//     perm(A) = prod u_i  prod v_j  prod_k (c_k - k + 1):
// the k-th row has that many columns left (Kaplansky and Riordan, Duke Math. J. 13 (1946)).
#pragma once

#include "lib/run/candidates.hpp"
#include "lib/run/engine_input.hpp"

namespace libperm {

class Proposals;

void propose_ferrers(Proposals &task, Engine self);
EngineResult run_ferrers(const EngineRun &run, const EngineInput &input); // of residues

std::string saved_ferrers(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_ferrers(std::string_view bytes, const PlanSource &of);
void check_ferrers(const Candidate &c);

} // namespace libperm
