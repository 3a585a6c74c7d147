// Engine `background`: the permanent of B + L, L_ij = u_i C_ab v_j for row i of class a and column j of class
// b, by the matchings of B.
//
//     perm(B + L) = sum over matchings M of B of (entries in M) prod u_i prod v_j perm(C_ab alone),
//
// i and j the lines that M has not: the last factor depends only on how many of each class these are
// (lib/background/rests.hpp). With one class of rows and of columns it is (n - |M|)!: Kaplansky and Riordan's
// rook polynomials, Duke Math. J. 13 (1946), with weights.
#pragma once

#include "lib/run/engine_run.hpp"

namespace libperm {

// Of residues. Progress is counted in products.
EngineResult run_background(const EngineRun &run, const EngineInput &input);

} // namespace libperm
