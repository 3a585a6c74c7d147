/* What libperm tells, as R's lists. */
#ifndef LIBPERM_R_TOLD_H
#define LIBPERM_R_TOLD_H

#include "r.h"

#include <perm.h>

SEXP told_result(const perm_result *result);
SEXP told_interval(const perm_interval *interval);
SEXP told_numbers(const double *numbers, R_xlen_t count);

#endif
