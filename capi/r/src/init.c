#include "calls.h"

#include <R_ext/Rdynload.h>

static const R_CallMethodDef calls[] = {
    {"compute", (DL_FUNC)&call_compute, 2},     {"matchings", (DL_FUNC)&call_matchings, 3},
    {"bounds", (DL_FUNC)&call_bounds, 2},       {"explain", (DL_FUNC)&call_explain, 2},
    {"marginals", (DL_FUNC)&call_marginals, 2}, {"info", (DL_FUNC)&call_info, 0},
    {"version", (DL_FUNC)&call_version, 0},     {NULL, NULL, 0}};

void R_init_libperm(DllInfo *dll) {
    R_registerRoutines(dll, NULL, calls, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
