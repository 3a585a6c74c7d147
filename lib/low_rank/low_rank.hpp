// Engine `low_rank`: the permanent of C W, C n x r and W r x n, by polynomials in r variables.
//
//     perm(C W) = sum over exponents e of sum n of  prod e_t!  [x^e] prod_i (sum_t c_it x_t)  [x^e] prod_j
//     (sum_t w_tj x_t)
//
// (Barvinok, Math. of Operations Research 21 (1996), section 3.) With W = G^-1 R, of the rows R of A and what
// they share with the columns C, no other entry of A is looked at.
#pragma once

#include "lib/run/candidates.hpp"
#include "lib/run/engine_input.hpp"

namespace libperm {

class Proposals;

// Of residues; or of a block of nearly rank one, with (1 + d)^n - 1 as its relative error where no entry is
// further than d from u_i v_j, by its share. Progress is counted in products.
EngineResult run_low_rank(const EngineRun &run, const EngineInput &input);

void propose_low_rank(Proposals &task, Engine self);
bool low_rank_by_residues(const Candidate &c);

std::string saved_low_rank(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_low_rank(std::string_view bytes, const PlanSource &of);
void check_low_rank(const Candidate &c);

} // namespace libperm
