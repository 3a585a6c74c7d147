/* R's headers, without the short names of theirs that others use. */
#ifndef LIBPERM_R_R_H
#define LIBPERM_R_R_H

#define R_NO_REMAP
#define STRICT_R_HEADERS
#include <R.h>
#include <Rinternals.h>

#endif
