/* Calls of libperm that R's user may interrupt. */
#ifndef LIBPERM_R_WORK_H
#define LIBPERM_R_WORK_H

#include "r.h"

#include <perm.h>

/* What is done in a thread of its own, with options that have the job's callbacks. It touches nothing of R's.
 */
typedef perm_status (*work_fn)(const perm_opts *opts, void *data);

/* Runs the work, while this thread, R's, asks whether the user has interrupted it: R leaves what is
 * interrupted by a longjmp, which must not cross the library's frames. NULL: it is done; else what to return
 * to R, a failure. */
SEXP run_work(work_fn fn, perm_opts opts, void *data);

/* A failure as the package's R code turns it into a condition: list(status =, text =). */
SEXP failure(perm_status status, const char *text);

#endif
