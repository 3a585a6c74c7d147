// Engine `background`: the permanent of B + u v^T by the matchings of B.
//
//     perm(B + u v^T) = sum over matchings M of B of (entries in M) (n - |M|)! prod u_i prod v_j,
//
// i and j the lines that M has not: the other terms of the background, one for each way to match these lines.
// (Kaplansky and Riordan's rook polynomials, Duke Math. J. 13 (1946), with weights.)
#pragma once

#include "lib/run/engine_run.hpp"

namespace libperm {

// Of residues. Progress is counted in products.
EngineResult run_background(const EngineRun &run, const EngineInput &input);

} // namespace libperm
