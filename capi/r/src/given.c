#include "given.h"

#include <string.h>

SEXP element(SEXP list, const char *name) {
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(list); ++i)
        if (!strcmp(CHAR(STRING_ELT(names, i)), name)) return VECTOR_ELT(list, i);
    return R_NilValue;
}

/* Whole numbers, which R has as ints or doubles; NULL of NULL. */
static const int64_t *integers(SEXP numbers) {
    if (Rf_isNull(numbers)) return NULL;
    const R_xlen_t count = Rf_xlength(numbers);
    int64_t *copy = (int64_t *)R_alloc((size_t)count + 1, sizeof *copy);
    const int are_ints = TYPEOF(numbers) == INTSXP;
    for (R_xlen_t i = 0; i < count; ++i) copy[i] = are_ints ? INTEGER(numbers)[i] : (int64_t)REAL(numbers)[i];
    return copy;
}

static const void *texts(SEXP strings) {
    const R_xlen_t count = Rf_xlength(strings);
    const char **copy = (const char **)R_alloc((size_t)count + 1, sizeof *copy);
    for (R_xlen_t i = 0; i < count; ++i) copy[i] = Rf_translateCharUTF8(STRING_ELT(strings, i));
    return copy;
}

static const void *values_of(SEXP values, int32_t type) {
    switch (type) {
    case PERM_VALUE_C128:
        return COMPLEX(values);
    case PERM_VALUE_I64:
        return integers(values);
    case PERM_VALUE_TEXT:
        return texts(values);
    default:
        return REAL(values);
    }
}

static size_t size_of(int32_t type) {
    return type == PERM_VALUE_C128 ? sizeof(Rcomplex) : sizeof(double); /* or of a pointer, or an int64_t */
}

perm_csr given_matrix(SEXP matrix) {
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = (int64_t)Rf_asReal(element(matrix, "n_rows"));
    a.n_cols = (int64_t)Rf_asReal(element(matrix, "n_cols"));
    a.nnz = (int64_t)Rf_xlength(element(matrix, "col"));
    a.row_ptr = integers(element(matrix, "row_ptr"));
    a.col_idx = integers(element(matrix, "col"));
    a.value_type = Rf_asInteger(element(matrix, "type"));
    a.values = values_of(element(matrix, "values"), a.value_type);
    a.row_multiplicity = integers(element(matrix, "row_multiplicity"));
    a.col_multiplicity = integers(element(matrix, "col_multiplicity"));
    /* Behind the values: the weights of the rows, then of the columns. */
    const char *weights = (const char *)a.values + (size_t)a.nnz * size_of(a.value_type);
    if (Rf_asLogical(element(matrix, "row_unmatched"))) {
        a.row_unmatched = weights;
        weights += (size_t)a.n_rows * size_of(a.value_type);
    }
    if (Rf_asLogical(element(matrix, "col_unmatched"))) a.col_unmatched = weights;
    return a;
}

static const char *text_of(SEXP options, const char *name) {
    SEXP text = element(options, name);
    return Rf_isNull(text) ? NULL : Rf_translateCharUTF8(STRING_ELT(text, 0));
}

static double number_of(SEXP options, const char *name) {
    SEXP number = element(options, name);
    return Rf_isNull(number) ? 0 : Rf_asReal(number);
}

perm_opts given_options(SEXP options) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = text_of(options, "engine");
    opts.device = text_of(options, "device");
    opts.precision = text_of(options, "precision");
    opts.without = text_of(options, "without");
    opts.decompose = text_of(options, "decompose");
    opts.checkpoint = text_of(options, "checkpoint");
    opts.tolerance = number_of(options, "tolerance");
    opts.threads = (int32_t)number_of(options, "threads");
    opts.memory_limit_bytes = (int64_t)number_of(options, "memory_limit");
    opts.time_limit_seconds = number_of(options, "time_limit");
    opts.seed = (uint64_t)number_of(options, "seed");
    return opts;
}
