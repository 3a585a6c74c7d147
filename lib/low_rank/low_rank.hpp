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

// Engine `separable`: the permanent of a matrix with low ranks on both sides of its diagonal, of a band or of
// a staircase.
//
// Lines come one by one; those that wait for others are alike but for their kinds, so that only their numbers
// are kept apart (quasi-separable matrices: Eidelman and Gohberg, Integral Equations Operator Theory 34
// (1999)).

void propose_separable(Proposals &task, Engine self);
EngineResult run_separable(const EngineRun &run, const EngineInput &input); // of residues

std::string saved_separable(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_separable(std::string_view bytes, const PlanSource &of);
void check_separable(const Candidate &c);

// Engine `ferrers`: the permanent of nested rows as a product.
//
// Where each row's columns are among the next one's, c_1 <= c_2 <= ..., and the entries are u_i v_j,
//     perm(A) = prod u_i  prod v_j  prod_k (c_k - k + 1):
// the k-th row has that many columns left (Kaplansky and Riordan, Duke Math. J. 13 (1946)).

void propose_ferrers(Proposals &task, Engine self);
EngineResult run_ferrers(const EngineRun &run, const EngineInput &input); // of residues

std::string saved_ferrers(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_ferrers(std::string_view bytes, const PlanSource &of);
void check_ferrers(const Candidate &c);

} // namespace libperm
