/* The calls of R's code: .Call(C_NAME, matrix, options). */
#include "calls.h"

#include "given.h"
#include "told.h"
#include "work.h"

typedef struct call {
    perm_csr matrix;
    perm_result *results; /* R_alloc'ed, as all of these are */
    int64_t count;
    perm_interval interval;
    perm_plan *plan;
    double *numbers;
    double *bounds;
} call;

static call call_of(SEXP matrix, int64_t results) {
    call of = {.matrix = given_matrix(matrix), .count = results, .interval = PERM_INTERVAL_INIT};
    of.results = (perm_result *)R_alloc((size_t)results + 1, sizeof *of.results);
    for (int64_t i = 0; i < results; ++i) of.results[i] = (perm_result)PERM_RESULT_INIT;
    return of;
}

static perm_status compute(const perm_opts *opts, void *data) {
    call *of = data;
    return perm_compute(&of->matrix, opts, of->results);
}

static perm_status matchings(const perm_opts *opts, void *data) {
    call *of = data;
    return perm_matchings(&of->matrix, opts, of->count, of->results);
}

static perm_status bounds(const perm_opts *opts, void *data) {
    call *of = data;
    return perm_bounds(&of->matrix, opts, &of->interval);
}

static perm_status plan(const perm_opts *opts, void *data) {
    call *of = data;
    return perm_plan_create(&of->matrix, opts, &of->plan);
}

static perm_status marginals(const perm_opts *opts, void *data) {
    call *of = data;
    return perm_marginals(&of->matrix, opts, of->numbers, of->bounds, of->results);
}

SEXP call_compute(SEXP matrix, SEXP options) {
    call of = call_of(matrix, 1);
    SEXP failed = run_work(compute, given_options(options), &of);
    if (failed) return failed;
    SEXP told = PROTECT(told_result(of.results));
    perm_result_clear(of.results);
    UNPROTECT(1);
    return told;
}

SEXP call_matchings(SEXP matrix, SEXP options, SEXP count) {
    call of = call_of(matrix, (int64_t)Rf_asReal(count));
    SEXP failed = run_work(matchings, given_options(options), &of);
    if (failed) return failed;
    SEXP told = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)of.count));
    for (int64_t i = 0; i < of.count; ++i) {
        SET_VECTOR_ELT(told, (R_xlen_t)i, told_result(of.results + i));
        perm_result_clear(of.results + i);
    }
    UNPROTECT(1);
    return told;
}

SEXP call_bounds(SEXP matrix, SEXP options) {
    call of = call_of(matrix, 0);
    SEXP failed = run_work(bounds, given_options(options), &of);
    return failed ? failed : told_interval(&of.interval);
}

SEXP call_explain(SEXP matrix, SEXP options) {
    call of = call_of(matrix, 0);
    SEXP failed = run_work(plan, given_options(options), &of);
    if (failed) return failed;
    size_t size = 0;
    perm_status status = perm_plan_explain(of.plan, PERM_FORMAT_TEXT, NULL, 0, &size);
    char *text = R_alloc(size + 1, 1);
    if (status == PERM_OK) status = perm_plan_explain(of.plan, PERM_FORMAT_TEXT, text, size, NULL);
    perm_plan_destroy(of.plan);
    return status == PERM_OK ? Rf_mkString(text) : failure(status, perm_last_error());
}

SEXP call_marginals(SEXP matrix, SEXP options) {
    call of = call_of(matrix, 1);
    const R_xlen_t count = (R_xlen_t)(of.matrix.nnz + of.matrix.n_rows + of.matrix.n_cols);
    of.numbers = (double *)R_alloc((size_t)count + 1, sizeof(double));
    of.bounds = (double *)R_alloc((size_t)count + 1, sizeof(double));
    SEXP failed = run_work(marginals, given_options(options), &of);
    if (failed) return failed;
    SEXP told = PROTECT(Rf_allocVector(VECSXP, 3));
    SET_VECTOR_ELT(told, 0, told_numbers(of.numbers, count));
    SET_VECTOR_ELT(told, 1, told_numbers(of.bounds, count));
    SET_VECTOR_ELT(told, 2, told_result(of.results));
    perm_result_clear(of.results);
    UNPROTECT(1);
    return told;
}

SEXP call_info(void) {
    size_t size = 0;
    perm_status status = perm_info(PERM_FORMAT_TEXT, NULL, 0, &size);
    size += 4096; /* it may grow */
    char *text = R_alloc(size, 1);
    if (status == PERM_OK) status = perm_info(PERM_FORMAT_TEXT, text, size, NULL);
    return status == PERM_OK ? Rf_mkString(text) : failure(status, perm_last_error());
}

SEXP call_version(void) { return Rf_mkString(perm_version()); }
