#ifndef LIBPERM_R_CALLS_H
#define LIBPERM_R_CALLS_H

#include "r.h"

SEXP call_compute(SEXP matrix, SEXP options);
SEXP call_matchings(SEXP matrix, SEXP options, SEXP count);
SEXP call_bounds(SEXP matrix, SEXP options);
SEXP call_explain(SEXP matrix, SEXP options);
SEXP call_marginals(SEXP matrix, SEXP options);
SEXP call_info(void);
SEXP call_version(void);

#endif
