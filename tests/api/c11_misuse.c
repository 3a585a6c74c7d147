/* perm.h as a C11 program sees it: the layout that is the ABI, and every function called wrongly. */
#include <perm.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- the ABI of soname 1, on LP64 */

#define OFFSET(type, field, bytes) _Static_assert(offsetof(type, field) == (bytes), #type "." #field)

#if defined(__LP64__)
_Static_assert(sizeof(perm_csr) == 96, "perm_csr");
OFFSET(perm_csr, struct_size, 0);
OFFSET(perm_csr, n_rows, 8);
OFFSET(perm_csr, n_cols, 16);
OFFSET(perm_csr, nnz, 24);
OFFSET(perm_csr, row_ptr, 32);
OFFSET(perm_csr, col_idx, 40);
OFFSET(perm_csr, values, 48);
OFFSET(perm_csr, index_type, 56);
OFFSET(perm_csr, value_type, 60);
OFFSET(perm_csr, row_multiplicity, 64);
OFFSET(perm_csr, col_multiplicity, 72);
OFFSET(perm_csr, row_unmatched, 80);
OFFSET(perm_csr, col_unmatched, 88);

_Static_assert(sizeof(perm_factors) == 48, "perm_factors");
OFFSET(perm_factors, n, 8);
OFFSET(perm_factors, rank, 16);
OFFSET(perm_factors, u, 24);
OFFSET(perm_factors, v, 32);
OFFSET(perm_factors, value_type, 40);
OFFSET(perm_factors, reserved, 44);

_Static_assert(sizeof(perm_opts) == 184, "perm_opts");
OFFSET(perm_opts, struct_size, 0);
OFFSET(perm_opts, engine, 8);
OFFSET(perm_opts, device, 16);
OFFSET(perm_opts, precision, 24);
OFFSET(perm_opts, tolerance, 32);
OFFSET(perm_opts, threads, 40);
OFFSET(perm_opts, reserved, 44);
OFFSET(perm_opts, memory_limit_bytes, 48);
OFFSET(perm_opts, time_limit_seconds, 56);
OFFSET(perm_opts, seed, 64);
OFFSET(perm_opts, progress, 72);
OFFSET(perm_opts, progress_user, 80);
OFFSET(perm_opts, cancel, 88);
OFFSET(perm_opts, cancel_user, 96);
OFFSET(perm_opts, without, 104);
OFFSET(perm_opts, decompose, 112);
OFFSET(perm_opts, chunks, 120);
OFFSET(perm_opts, cache_dir, 128);
OFFSET(perm_opts, cache_limit_bytes, 136);
OFFSET(perm_opts, checkpoint, 144);
OFFSET(perm_opts, checkpoint_seconds, 152);
OFFSET(perm_opts, gpus, 160);
OFFSET(perm_opts, reserved2, 164);
OFFSET(perm_opts, machine, 168);
OFFSET(perm_opts, function, 176);

_Static_assert(sizeof(perm_partial) == 24, "perm_partial");
OFFSET(perm_partial, struct_size, 0);
OFFSET(perm_partial, bytes, 8);
OFFSET(perm_partial, size, 16);

_Static_assert(sizeof(perm_result) == 232, "perm_result");
OFFSET(perm_result, struct_size, 0);
OFFSET(perm_result, re, 8);
OFFSET(perm_result, im, 16);
OFFSET(perm_result, mantissa_re, 24);
OFFSET(perm_result, mantissa_im, 32);
OFFSET(perm_result, exp2, 40);
OFFSET(perm_result, rel_error_bound, 48);
OFFSET(perm_result, abs_error_bound, 56);
OFFSET(perm_result, exact, 64);
OFFSET(perm_result, tolerance_met, 68);
OFFSET(perm_result, text, 72);
OFFSET(perm_result, engine, 80);
OFFSET(perm_result, device, 88);
OFFSET(perm_result, n, 96);
OFFSET(perm_result, nnz, 104);
OFFSET(perm_result, threads, 112);
OFFSET(perm_result, transposed, 116);
OFFSET(perm_result, subsets, 120);
OFFSET(perm_result, states, 128);
OFFSET(perm_result, peak_states, 136);
OFFSET(perm_result, operations, 144);
OFFSET(perm_result, peak_bytes, 152);
OFFSET(perm_result, seconds_total, 160);
OFFSET(perm_result, seconds_check, 168);
OFFSET(perm_result, seconds_plan, 176);
OFFSET(perm_result, seconds_run, 184);
OFFSET(perm_result, blocks, 192);
OFFSET(perm_result, blocks_computed, 200);
OFFSET(perm_result, seconds_compile, 208);
OFFSET(perm_result, kernels_compiled, 216);
OFFSET(perm_result, slices, 220);
OFFSET(perm_result, entry_rounding, 224);
#endif

_Static_assert(sizeof(perm_status) == 4 && sizeof(perm_format) == 4, "enums are int");
_Static_assert(PERM_OK == 0 && PERM_BAD_ARGUMENT == 101 && PERM_BAD_MATRIX == 102 && PERM_BAD_OPTION == 103 &&
                   PERM_REFUSED_MEMORY == 201 && PERM_REFUSED_TIME == 202 && PERM_UNSUPPORTED == 203 &&
                   PERM_CANCELLED == 301 && PERM_OUT_OF_MEMORY == 401 && PERM_INTERNAL == 402 &&
                   PERM_GPU_FAILED == 403,
               "status codes never change");
_Static_assert(PERM_INDEX_I64 == 0 && PERM_INDEX_I32 == 1 && PERM_VALUE_F64 == 0 && PERM_VALUE_C128 == 1 &&
                   PERM_VALUE_I64 == 2 && PERM_VALUE_PATTERN == 3 && PERM_VALUE_TEXT == 4 &&
                   PERM_FORMAT_TEXT == 0 && PERM_FORMAT_JSON == 1 && PERM_FORMAT_PICTURE == 2,
               "kinds never change");

/* ---------------------------------------------------------------- checking */

static int checks = 0, failures = 0;

static void expect(int holds, const char *what, int line) {
    ++checks;
    if (holds) return;
    ++failures;
    printf("%s:%d: FAILED: %s (last error: %s)\n", __FILE__, line, what, perm_last_error());
}

#define EXPECT(condition) expect((condition) ? 1 : 0, #condition, __LINE__)
#define EXPECT_STATUS(status, call) expect((call) == (status), #call " == " #status, __LINE__)
/* 1xx: the input is at fault; which of them is a matter of taste. And it is said in words. */
#define EXPECT_BAD_INPUT(call)                                                                               \
    expect((call) / 100 == 1 && perm_last_error()[0] != '\0', "1xx: " #call, __LINE__)

/* ---------------------------------------------------------------- a good call to spoil */

static const int64_t row_ptr[] = {0, 2, 4}, col_idx[] = {0, 1, 0, 1};
static const double values[] = {1, 2, 3, 4};

static perm_csr good(void) {
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = 2;
    a.nnz = 4;
    a.row_ptr = row_ptr;
    a.col_idx = col_idx;
    a.values = values;
    return a;
}

static void test_compute(void) {
    perm_csr a = good();
    perm_opts opts = PERM_OPTS_INIT;
    perm_result r = PERM_RESULT_INIT;

    EXPECT_STATUS(PERM_OK, perm_compute(&a, NULL, &r));
    EXPECT(r.text && strcmp(r.text, "10") == 0);
    EXPECT(r.re == 10.0 && r.exact == 1 && r.rel_error_bound == 0.0);
    EXPECT_STATUS(PERM_OK, perm_compute(&a, &opts, &r));

    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute(NULL, NULL, NULL));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute(NULL, &opts, &r));
    EXPECT(r.text == NULL);
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute(&a, &opts, NULL));

    memset(&opts, 0, sizeof opts); /* all zero, the size too */
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute(&a, &opts, &r));
    opts.struct_size = sizeof opts;
    EXPECT_STATUS(PERM_OK, perm_compute(&a, &opts, &r));
    EXPECT_STATUS(PERM_OK, perm_result_clear(&r));

    memset(&a, 0, sizeof a);
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute(&a, NULL, &r));
    a.struct_size = sizeof a; /* 0 x 0 */
    EXPECT_STATUS(PERM_OK, perm_compute(&a, NULL, &r));
    EXPECT(r.re == 1.0);
    EXPECT_STATUS(PERM_OK, perm_result_clear(&r));

    memset(&r, 0, sizeof r);
    a = good();
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute(&a, NULL, &r));
    r.struct_size = sizeof r;
    EXPECT_STATUS(PERM_OK, perm_compute(&a, NULL, &r));
    EXPECT_STATUS(PERM_OK, perm_result_clear(&r));
}

static void test_matrix(void) {
    perm_result r = PERM_RESULT_INIT;
    perm_csr a;
    const int32_t garbage[] = {-1, 5, 1000, INT_MIN, INT_MAX};
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; ++i) {
        a = good();
        a.index_type = garbage[i];
        EXPECT_BAD_INPUT(perm_compute(&a, NULL, &r));
        a = good();
        a.value_type = garbage[i];
        EXPECT_BAD_INPUT(perm_compute(&a, NULL, &r));
    }
    a = good();
    a.n_rows = INT64_MAX;
    EXPECT_STATUS(PERM_UNSUPPORTED, perm_compute(&a, NULL, &r));
    a = good();
    a.n_rows = a.n_cols = -2;
    EXPECT_BAD_INPUT(perm_compute(&a, NULL, &r));
    a = good();
    a.nnz = 3;
    EXPECT_STATUS(PERM_BAD_MATRIX, perm_compute(&a, NULL, &r));
    a = good();
    a.nnz = INT64_MIN;
    EXPECT_BAD_INPUT(perm_compute(&a, NULL, &r));
    a = good();
    a.row_ptr = NULL;
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute(&a, NULL, &r));
    a = good();
    a.col_idx = NULL;
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute(&a, NULL, &r));
    a = good();
    a.values = NULL;
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute(&a, NULL, &r));
    a.value_type = PERM_VALUE_PATTERN;
    EXPECT_STATUS(PERM_OK, perm_compute(&a, NULL, &r));
    EXPECT_STATUS(PERM_OK, perm_result_clear(&r));
}

static void test_product(void) {
    const int32_t garbage[] = {-1, 5, 1000, INT_MIN, INT_MAX, PERM_VALUE_PATTERN};
    perm_factors whole = PERM_FACTORS_INIT, a;
    perm_result r = PERM_RESULT_INIT;
    whole.n = 2;
    whole.rank = 1;
    whole.u = values;
    whole.v = values + 2;
    EXPECT_STATUS(PERM_OK, perm_compute_product(&whole, NULL, &r));
    EXPECT(r.text && strcmp(r.text, "48") == 0);
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute_product(NULL, NULL, NULL));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute_product(&whole, NULL, NULL));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute_product(NULL, NULL, &r));
    EXPECT(r.text == NULL);
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; ++i) {
        a = whole;
        a.value_type = garbage[i];
        EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute_product(&a, NULL, &r));
    }
    a = whole;
    a.struct_size = 0;
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute_product(&a, NULL, &r));
    a = whole;
    a.reserved = 1;
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute_product(&a, NULL, &r));
    a = whole;
    a.v = NULL;
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_compute_product(&a, NULL, &r));
    a = whole;
    a.n = -1;
    EXPECT_STATUS(PERM_BAD_MATRIX, perm_compute_product(&a, NULL, &r));
    a.n = INT64_MIN;
    EXPECT_STATUS(PERM_BAD_MATRIX, perm_compute_product(&a, NULL, &r));
    a.n = INT64_MAX;
    EXPECT_STATUS(PERM_UNSUPPORTED, perm_compute_product(&a, NULL, &r));
    a.n = INT_MAX - 1;
    a.rank = INT_MAX - 1;
    EXPECT_STATUS(PERM_UNSUPPORTED, perm_compute_product(&a, NULL, &r));
    a = whole;
    a.rank = INT64_MAX;
    EXPECT_STATUS(PERM_UNSUPPORTED, perm_compute_product(&a, NULL, &r));
    a.rank = -1;
    EXPECT_STATUS(PERM_BAD_MATRIX, perm_compute_product(&a, NULL, &r));
    EXPECT_STATUS(PERM_OK, perm_result_clear(&r));
}

static void test_options(void) {
    perm_csr a = good();
    perm_result r = PERM_RESULT_INIT;
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = "";
    EXPECT_STATUS(PERM_BAD_OPTION, perm_compute(&a, &opts, &r));
    opts = (perm_opts)PERM_OPTS_INIT;
    opts.threads = INT_MIN;
    EXPECT_STATUS(PERM_BAD_OPTION, perm_compute(&a, &opts, &r));
    opts = (perm_opts)PERM_OPTS_INIT;
    opts.reserved = -1;
    EXPECT_STATUS(PERM_BAD_OPTION, perm_compute(&a, &opts, &r));
    opts = (perm_opts)PERM_OPTS_INIT;
    opts.memory_limit_bytes = INT64_MIN;
    EXPECT_STATUS(PERM_BAD_OPTION, perm_compute(&a, &opts, &r));
    opts = (perm_opts)PERM_OPTS_INIT;
    opts.time_limit_seconds = -0.5;
    EXPECT_STATUS(PERM_BAD_OPTION, perm_compute(&a, &opts, &r));
    opts = (perm_opts)PERM_OPTS_INIT;
    opts.tolerance = NAN;
    EXPECT_STATUS(PERM_BAD_OPTION, perm_compute(&a, &opts, &r));
    opts = (perm_opts)PERM_OPTS_INIT;
    opts.device = "tpu";
    EXPECT_STATUS(PERM_BAD_OPTION, perm_compute(&a, &opts, &r));
    opts = (perm_opts)PERM_OPTS_INIT;
    opts.chunks = "";
    EXPECT_STATUS(PERM_BAD_OPTION, perm_compute(&a, &opts, &r));
    opts = (perm_opts)PERM_OPTS_INIT;
    opts.cache_limit_bytes = INT64_MIN;
    EXPECT_STATUS(PERM_BAD_OPTION, perm_compute(&a, &opts, &r));
    opts = (perm_opts)PERM_OPTS_INIT;
    opts.engine = "hybrid";
    opts.device = "cpu";
    EXPECT_STATUS(PERM_BAD_OPTION, perm_compute(&a, &opts, &r));
    opts.engine = "ryser";
    opts.device = "gpu";
    EXPECT_STATUS(PERM_BAD_OPTION, perm_compute(&a, &opts, &r));
    EXPECT(r.text == NULL);
}

static void test_plan(void) {
    perm_csr a = good();
    perm_result r = PERM_RESULT_INIT;
    perm_plan *plan = NULL;
    char buffer[8];
    size_t needed = 0;

    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_create(NULL, NULL, NULL));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_create(&a, NULL, NULL));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_create(NULL, NULL, &plan));
    EXPECT(plan == NULL);
    EXPECT_STATUS(PERM_OK, perm_plan_create(&a, NULL, &plan));
    EXPECT(plan != NULL);

    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_execute(NULL, NULL, NULL));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_execute(plan, values, NULL));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_execute(NULL, values, &r));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_execute(plan, NULL, &r));
    r.struct_size = 8;
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_execute(plan, values, &r));
    r.struct_size = sizeof r;
    EXPECT_STATUS(PERM_OK, perm_plan_execute(plan, values, &r));
    EXPECT(r.re == 10.0);

    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_explain(NULL, PERM_FORMAT_TEXT, NULL, 0, &needed));
    EXPECT_BAD_INPUT(perm_plan_explain(plan, (perm_format)7, NULL, 0, &needed));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_explain(plan, PERM_FORMAT_TEXT, NULL, 5, &needed));
    EXPECT_STATUS(PERM_BAD_ARGUMENT,
                  perm_plan_explain(plan, PERM_FORMAT_TEXT, buffer, sizeof buffer, &needed));
    EXPECT(needed > sizeof buffer);
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_explain(plan, PERM_FORMAT_JSON, buffer, 0, NULL));
    EXPECT_STATUS(PERM_OK, perm_plan_explain(plan, PERM_FORMAT_JSON, NULL, 0, NULL));

    EXPECT_STATUS(PERM_OK, perm_plan_destroy(plan));
    EXPECT_STATUS(PERM_OK, perm_plan_destroy(NULL));
    EXPECT_STATUS(PERM_OK, perm_result_clear(&r));
}

static void test_source(void) {
    perm_csr a = good();
    perm_opts opts = PERM_OPTS_INIT;
    perm_plan *plan = NULL;
    char buffer[8];
    size_t needed = 0;

    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_source(NULL, NULL, NULL, 0, NULL));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_source(NULL, "sm_90", buffer, sizeof buffer, &needed));
    EXPECT_STATUS(PERM_OK, perm_plan_create(&a, NULL, &plan)); /* the reductions alone solve it */
    EXPECT_STATUS(PERM_UNSUPPORTED, perm_plan_source(plan, NULL, NULL, 0, &needed));
    EXPECT_STATUS(PERM_BAD_OPTION, perm_plan_source(plan, "nonsense", NULL, 0, &needed));
    EXPECT_STATUS(PERM_OK, perm_plan_destroy(plan));

    opts.engine = "purereg";
    opts.without = "all";
    EXPECT_STATUS(PERM_OK, perm_plan_create(&a, &opts, &plan));
    EXPECT_STATUS(PERM_OK, perm_plan_source(plan, NULL, NULL, 0, NULL));
    EXPECT_STATUS(PERM_OK, perm_plan_source(plan, "sm_90", NULL, 0, &needed));
    EXPECT(needed > sizeof buffer);
    EXPECT_STATUS(PERM_BAD_OPTION, perm_plan_source(plan, "", NULL, 0, &needed));
    EXPECT_STATUS(PERM_BAD_OPTION, perm_plan_source(plan, "sm_", NULL, 0, &needed));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_source(plan, "sm_90", NULL, 5, &needed));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_source(plan, "sm_90", buffer, sizeof buffer, &needed));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_plan_source(plan, "sm_90", buffer, 0, NULL));
    EXPECT_STATUS(PERM_OK, perm_plan_destroy(plan));
}

static void test_cache(void) {
    char buffer[4];
    size_t needed = 0;
    int64_t removed = -7;
    EXPECT_STATUS(PERM_OK, perm_cache_describe(NULL, PERM_FORMAT_TEXT, NULL, 0, &needed));
    EXPECT(needed > sizeof buffer);
    EXPECT_STATUS(PERM_BAD_ARGUMENT,
                  perm_cache_describe("", PERM_FORMAT_JSON, buffer, sizeof buffer, &needed));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_cache_describe("", PERM_FORMAT_JSON, NULL, 5, NULL));
    EXPECT_BAD_INPUT(perm_cache_describe("", (perm_format)7, NULL, 0, NULL));
    EXPECT_STATUS(PERM_OK, perm_cache_clear("", NULL));
    EXPECT_STATUS(PERM_OK, perm_cache_clear("", &removed));
    EXPECT(removed == 0);
    removed = -7;
    EXPECT_STATUS(PERM_BAD_OPTION, perm_cache_clear("/dev/null", &removed));
    EXPECT(removed == 0);
}

static void test_rest(void) {
    char buffer[4];
    size_t needed = 0;
    perm_result r = PERM_RESULT_INIT;
    EXPECT_STATUS(PERM_OK, perm_result_clear(NULL));
    r.struct_size = 0;
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_result_clear(&r));
    EXPECT_BAD_INPUT(perm_info((perm_format)-1, NULL, 0, &needed));
    EXPECT_STATUS(PERM_BAD_ARGUMENT, perm_info(PERM_FORMAT_TEXT, buffer, sizeof buffer, &needed));
    EXPECT(needed > sizeof buffer);
    EXPECT_STATUS(PERM_OK, perm_info(PERM_FORMAT_JSON, NULL, 0, &needed));
    EXPECT_BAD_INPUT(perm_set_log_level(-1));
    EXPECT_BAD_INPUT(perm_set_log_level(INT_MAX));
    EXPECT_STATUS(PERM_OK, perm_set_log_level(2));
    EXPECT(perm_status_text(PERM_OK)[0] != '\0');
    EXPECT(perm_status_text((perm_status)12345) != NULL);
    EXPECT(perm_last_error() != NULL);
    EXPECT(strcmp(perm_version(), PERM_VERSION_STRING) == 0);
}

int main(void) {
    EXPECT(strcmp(perm_last_error(), "") == 0); /* nothing has failed yet */
    test_compute();
    test_matrix();
    test_product();
    test_options();
    test_plan();
    test_source();
    test_cache();
    test_rest();
    printf("%d checks, %d failures\n", checks, failures);
    return checks > 0 && failures == 0 ? 0 : 1;
}
