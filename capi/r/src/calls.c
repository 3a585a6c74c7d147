/* The calls of R's code: .Call(C_NAME, matrix, options). What it gives are lists that it has checked; what
 * they point to is R's, or lives until .Call returns. */
#define R_NO_REMAP /* R's short names are others' too */
#define STRICT_R_HEADERS
#include <R.h>
#include <R_ext/Rdynload.h>
#include <Rinternals.h>

#include <perm.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------- what is given */

/* R_NilValue where there is none. */
static SEXP element(SEXP list, const char *name) {
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
    return type == PERM_VALUE_C128   ? COMPLEX(values)
           : type == PERM_VALUE_I64  ? integers(values)
           : type == PERM_VALUE_TEXT ? texts(values)
                                     : (const void *)REAL(values);
}

static size_t size_of(int32_t type) {
    return type == PERM_VALUE_C128 ? sizeof(Rcomplex) : sizeof(double); /* or of a pointer, or an int64_t */
}

static perm_csr given_matrix(SEXP matrix) {
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

static perm_opts given_options(SEXP options) {
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

/* ---------------------------------------------------------------- what is told */

/* One element of a list; its text, if it is one, may be NULL: NA. */
typedef struct field {
    const char *name;
    enum { number, flag, word } kind;
    double value;
    const char *text;
} field;

static SEXP told(const field *fields, int count) {
    SEXP list = PROTECT(Rf_allocVector(VECSXP, count)), names = PROTECT(Rf_allocVector(STRSXP, count));
    for (int i = 0; i < count; ++i) {
        const field *of = fields + i;
        SET_STRING_ELT(names, i, Rf_mkChar(of->name));
        SET_VECTOR_ELT(list, i,
                       of->kind == word
                           ? Rf_ScalarString(of->text ? Rf_mkCharCE(of->text, CE_UTF8) : NA_STRING)
                       : of->kind == flag ? Rf_ScalarLogical((int)of->value)
                                          : Rf_ScalarReal(of->value));
    }
    Rf_setAttrib(list, R_NamesSymbol, names);
    UNPROTECT(2);
    return list;
}

static SEXP told_result(const perm_result *r) {
    const field fields[] = {{"exact", flag, r->exact, NULL},
                            {"tolerance_met", flag, r->tolerance_met, NULL},
                            {"text", word, 0, r->text},
                            {"engine", word, 0, r->engine},
                            {"device", word, 0, r->device},
                            {"re", number, r->re, NULL},
                            {"im", number, r->im, NULL},
                            {"mantissa_re", number, r->mantissa_re, NULL},
                            {"mantissa_im", number, r->mantissa_im, NULL},
                            {"exp2", number, (double)r->exp2, NULL},
                            {"rel_error_bound", number, r->rel_error_bound, NULL},
                            {"abs_error_bound", number, r->abs_error_bound, NULL},
                            {"n", number, (double)r->n, NULL},
                            {"nnz", number, (double)r->nnz, NULL},
                            {"threads", number, r->threads, NULL},
                            {"blocks", number, (double)r->blocks, NULL},
                            {"peak_bytes", number, (double)r->peak_bytes, NULL},
                            {"entry_rounding", number, r->entry_rounding, NULL},
                            {"seconds", number, r->seconds_total, NULL}};
    return told(fields, sizeof fields / sizeof *fields);
}

static SEXP told_interval(const perm_interval *b) {
    const field fields[] = {{"lower_mantissa", number, b->lower_mantissa, NULL},
                            {"lower_exp2", number, (double)b->lower_exp2, NULL},
                            {"upper_mantissa", number, b->upper_mantissa, NULL},
                            {"upper_exp2", number, (double)b->upper_exp2, NULL},
                            {"exact", flag, b->exact, NULL},
                            {"of_magnitude", flag, b->of_magnitude, NULL},
                            {"lower_method", word, 0, b->lower_method},
                            {"upper_method", word, 0, b->upper_method}};
    return told(fields, sizeof fields / sizeof *fields);
}

static SEXP told_numbers(const double *numbers, R_xlen_t count) {
    SEXP vector = Rf_allocVector(REALSXP, count);
    if (count) memcpy(REAL(vector), numbers, (size_t)count * sizeof *numbers);
    return vector;
}

/* ---------------------------------------------------------------- calls that the user may interrupt */

/* What is done in a thread of its own, with options that have the job's callbacks. It touches nothing of R's.
 */
typedef perm_status (*work_fn)(const perm_opts *opts, void *data);

typedef struct job {
    work_fn fn;
    perm_opts opts;
    void *data;
    perm_status status;
    char text[4096]; /* perm_last_error is of the thread that failed */
    atomic_int interrupted;
    pthread_mutex_t mutex; /* of `done` */
    pthread_cond_t changed;
    int done;
} job;

static int is_interrupted(void *user) { return atomic_load(&((job *)user)->interrupted); }

static void *run(void *user) {
    job *of = user;
    of->status = of->fn(&of->opts, of->data);
    if (of->status != PERM_OK) snprintf(of->text, sizeof of->text, "%s", perm_last_error());
    pthread_mutex_lock(&of->mutex);
    of->done = 1;
    pthread_cond_signal(&of->changed);
    pthread_mutex_unlock(&of->mutex);
    return NULL;
}

/* Signals are R's: the thread, and those that the library starts from it, have all of them blocked. */
static int start(pthread_t *thread, job *of) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(thread, NULL, run, of);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static int is_done_within_a_moment(job *of) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50000000;
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
    pthread_mutex_lock(&of->mutex);
    int waited = 0;
    while (!of->done && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&of->changed, &of->mutex, &until);
    const int done = of->done;
    pthread_mutex_unlock(&of->mutex);
    return done;
}

static void ask_the_user(void *unused) {
    (void)unused;
    R_CheckUserInterrupt();
}

/* A failure as the package's R code turns it into a condition. */
static SEXP failure(perm_status status, const char *text) {
    const field fields[] = {{"status", number, status, NULL}, {"text", word, 0, text}};
    SEXP list = PROTECT(told(fields, sizeof fields / sizeof *fields));
    Rf_setAttrib(list, R_ClassSymbol, Rf_mkString("perm_failure"));
    UNPROTECT(1);
    return list;
}

/* Runs the work, while this thread, R's, asks whether the user has interrupted it: R leaves what is
 * interrupted by a longjmp, which must not cross the library's frames. NULL: it is done; else what to return
 * to R, a failure. */
static SEXP run_work(work_fn fn, perm_opts opts, void *data) {
    job *of = (job *)R_alloc(1, sizeof *of);
    *of = (job){.fn = fn, .opts = opts, .data = data};
    of->opts.cancel = is_interrupted;
    of->opts.cancel_user = of;
    pthread_mutex_init(&of->mutex, NULL);
    pthread_cond_init(&of->changed, NULL);
    pthread_t thread;
    const int failed = start(&thread, of);
    if (!failed) {
        while (!is_done_within_a_moment(of))
            if (!R_ToplevelExec(ask_the_user, NULL)) atomic_store(&of->interrupted, 1);
        pthread_join(thread, NULL);
    }
    pthread_cond_destroy(&of->changed);
    pthread_mutex_destroy(&of->mutex);
    if (failed) return failure(PERM_OUT_OF_MEMORY, "no thread could be started");
    return of->status == PERM_OK ? NULL : failure(of->status, of->text);
}

/* ---------------------------------------------------------------- calls */

typedef struct call {
    perm_csr matrix;
    int64_t count;        /* of results */
    perm_result *results; /* R_alloc'ed, as all of these are */
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

static SEXP told_and_cleared(perm_result *result) {
    SEXP list = PROTECT(told_result(result));
    perm_result_clear(result);
    UNPROTECT(1);
    return list;
}

static perm_status compute(const perm_opts *opts, void *data) {
    call *of = data;
    return perm_compute(&of->matrix, opts, of->results);
}

static SEXP call_compute(SEXP matrix, SEXP options) {
    call of = call_of(matrix, 1);
    SEXP failed = run_work(compute, given_options(options), &of);
    return failed ? failed : told_and_cleared(of.results);
}

static perm_status matchings(const perm_opts *opts, void *data) {
    call *of = data;
    return perm_matchings(&of->matrix, opts, of->count, of->results);
}

static SEXP call_matchings(SEXP matrix, SEXP options, SEXP count) {
    call of = call_of(matrix, (int64_t)Rf_asReal(count));
    SEXP failed = run_work(matchings, given_options(options), &of);
    if (failed) return failed;
    SEXP list = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)of.count));
    for (int64_t i = 0; i < of.count; ++i)
        SET_VECTOR_ELT(list, (R_xlen_t)i, told_and_cleared(of.results + i));
    UNPROTECT(1);
    return list;
}

static perm_status bounds(const perm_opts *opts, void *data) {
    call *of = data;
    return perm_bounds(&of->matrix, opts, &of->interval);
}

static SEXP call_bounds(SEXP matrix, SEXP options) {
    call of = call_of(matrix, 0);
    SEXP failed = run_work(bounds, given_options(options), &of);
    return failed ? failed : told_interval(&of.interval);
}

static perm_status marginals(const perm_opts *opts, void *data) {
    call *of = data;
    return perm_marginals(&of->matrix, opts, of->numbers, of->bounds, of->results);
}

static SEXP call_marginals(SEXP matrix, SEXP options) {
    call of = call_of(matrix, 1);
    const R_xlen_t count = (R_xlen_t)(of.matrix.nnz + of.matrix.n_rows + of.matrix.n_cols);
    of.numbers = (double *)R_alloc((size_t)count + 1, sizeof(double));
    of.bounds = (double *)R_alloc((size_t)count + 1, sizeof(double));
    SEXP failed = run_work(marginals, given_options(options), &of);
    if (failed) return failed;
    SEXP list = PROTECT(Rf_allocVector(VECSXP, 3));
    SET_VECTOR_ELT(list, 0, told_numbers(of.numbers, count));
    SET_VECTOR_ELT(list, 1, told_numbers(of.bounds, count));
    SET_VECTOR_ELT(list, 2, told_and_cleared(of.results));
    UNPROTECT(1);
    return list;
}

/* What a plan explains, which is destroyed, or of none what perm_info tells. */
static SEXP told_text(perm_plan *plan) {
    size_t size = 0;
    perm_status status = plan ? perm_plan_explain(plan, PERM_FORMAT_TEXT, NULL, 0, &size)
                              : perm_info(PERM_FORMAT_TEXT, NULL, 0, &size);
    size += 4096; /* what is told of the machine may grow */
    char *text = R_alloc(size, 1);
    if (status == PERM_OK)
        status = plan ? perm_plan_explain(plan, PERM_FORMAT_TEXT, text, size, NULL)
                      : perm_info(PERM_FORMAT_TEXT, text, size, NULL);
    perm_plan_destroy(plan);
    return status == PERM_OK ? Rf_mkString(text) : failure(status, perm_last_error());
}

static perm_status plan(const perm_opts *opts, void *data) {
    call *of = data;
    return perm_plan_create(&of->matrix, opts, &of->plan);
}

static SEXP call_explain(SEXP matrix, SEXP options) {
    call of = call_of(matrix, 0);
    SEXP failed = run_work(plan, given_options(options), &of);
    return failed ? failed : told_text(of.plan);
}

static SEXP call_info(void) { return told_text(NULL); }

static SEXP call_version(void) { return Rf_mkString(perm_version()); }

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
