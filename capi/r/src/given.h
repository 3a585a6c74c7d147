/* What R's code gives, lists that it has checked, as libperm has it. What they point to is R's, or lives
 * until .Call returns. */
#ifndef LIBPERM_R_GIVEN_H
#define LIBPERM_R_GIVEN_H

#include "r.h"

#include <perm.h>

SEXP element(SEXP list, const char *name); /* R_NilValue where there is none */

perm_csr given_matrix(SEXP matrix);
perm_opts given_options(SEXP options);

#endif
