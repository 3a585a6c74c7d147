/* perm.h - exact permanents of sparse matrices.
 *
 *   perm(A) = sum over permutations s of prod_i a[i, s(i)]
 *
 * The only ABI of libperm. C11, also valid C++. A first call:
 *
 *   int64_t row_ptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
 *   double  value[]   = {1, 2, 3, 4};
 *   perm_csr    a = PERM_CSR_INIT;
 *   perm_result r = PERM_RESULT_INIT;
 *   a.n_rows = a.n_cols = 2;  a.nnz = 4;
 *   a.row_ptr = row_ptr;  a.col_idx = col;  a.values = value;
 *   if (perm_compute(&a, NULL, &r) != PERM_OK) puts(perm_last_error());
 *   else puts(r.text);                                  // 10
 *   perm_result_clear(&r);
 *
 * Conventions
 *   Errors     Every call that can fail returns a perm_status. When it is not PERM_OK, perm_last_error() says
 *              in words what was wrong and what to do. Nothing is thrown, printed or aborted.
 *   Ownership  Inputs stay the caller's and are not needed after the call returns. What the library allocates
 *              (a plan, a result's text) the library frees: perm_plan_destroy, perm_result_clear.
 *   Threads    Any function may be called from any number of threads at once, and one plan may be executed by
 *              many threads at once; only one and the same perm_result must not be written by two calls.
 *   Growth     Every struct begins with its own size, set by its _INIT macro. Fields are only ever added at
 *              the end, and all-zero fields mean "the default".
 *   Same bits  A plan's result has the same bits whatever the number of threads.
 *   Seeds      What is random follows from a seed alone: with the same one the same bits, for any number of
 *              threads and on a GPU; 0 is a seed like others. perm_opts.seed is of the orders that a plan
 *              tries, the seed of samples (an argument, or perm_estimate_opts.seed) of which are drawn.
 */
#ifndef PERM_H
#define PERM_H

/* Fields and their meaning stand in columns. */
/* clang-format off */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PERM_API __attribute__((visibility("default")))
#else
#define PERM_API
#endif

#define PERM_VERSION_MAJOR 1
#define PERM_VERSION_MINOR 0
#define PERM_VERSION_PATCH 0
#define PERM_VERSION_STRING "1.0.0"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- status */

/* The hundreds tell the kind: 1xx the input is at fault, 2xx the input is fine but the answer is out of reach
 * here (limits, unsupported numbers), 3xx the caller stopped it, 4xx the machine or the library failed. */
typedef enum perm_status {
    PERM_OK = 0,
    PERM_BAD_ARGUMENT = 101,     /* null pointer, struct_size too small */
    PERM_BAD_MATRIX = 102,       /* index out of range, duplicate entry, NaN, ... */
    PERM_BAD_OPTION = 103,       /* unknown engine, negative limit, ... */
    PERM_REFUSED_MEMORY = 201,   /* needs more memory than the limit: the text says how much */
    PERM_REFUSED_TIME = 202,     /* predicted (or found) to take longer than the limit */
    PERM_UNSUPPORTED = 203,      /* a kind of number or size this version cannot do, or a GPU that is not there */
    PERM_CANCELLED = 301,        /* the cancel callback asked for it */
    PERM_OUT_OF_MEMORY = 401,    /* the system refused an allocation within the limit */
    PERM_INTERNAL = 402,         /* a defect of libperm: please report the text */
    PERM_GPU_FAILED = 403        /* a GPU, its driver or its compiler failed: the text is theirs */
} perm_status;

/* A status in a few words, e.g. "bad matrix". Static storage, never NULL, also for unknown codes. */
PERM_API const char *perm_status_text(perm_status status);

/* What went wrong in the last failing call of this thread, "" if none failed. Valid until the next failing
 * call of the same thread; a call that succeeds leaves it as it was. */
PERM_API const char *perm_last_error(void);

/* ---------------------------------------------------------------- matrix */

typedef enum perm_index_type { PERM_INDEX_I64 = 0, PERM_INDEX_I32 = 1 } perm_index_type;

typedef enum perm_value_type {
    PERM_VALUE_F64 = 0,     /* double */
    PERM_VALUE_C128 = 1,    /* re, im pairs of double */
    PERM_VALUE_I64 = 2,     /* int64_t */
    PERM_VALUE_PATTERN = 3, /* every stored entry is 1; values is NULL */
    PERM_VALUE_TEXT = 4     /* const char *: numbers as they are written, taken exactly: "-12" of any length,
                             * "0.1", "6.02e23", "1/3", exponents up to 100000; a complex number as "0.5 -0.25" */
} perm_value_type;

/* A sparse matrix in compressed sparse rows, zero-based. Row i holds the entries row_ptr[i] to
 * row_ptr[i+1] - 1; columns inside a row may stand in any order, none twice. Explicit zeros are allowed. n = 0
 * is allowed: its permanent is 1. The pointers are only read, and only during the call.
 * m x n with m < n: the sum over all ways to choose a column for each row, none twice. It is computed as the
 * square matrix with n - m rows of ones below, over (n - m)! (Minc, Permanents, 1978, section 1.1). With m > n it is
 * that of the transpose.
 * Multiplicities: row i counts row_multiplicity[i] times, column j col_multiplicity[j] times, as if it were written
 * so often; 0 leaves it out. Of an amplitude of boson sampling these are the photons in each mode of output and
 * input. What is repeated costs little: engines count how many of a kind are used.
 * Lines that may stay unmatched: with row_unmatched or col_unmatched the value is no longer the permanent but
 *
 *     sum over matchings of (product of the entries in it) * (product of the weights of the lines not in it),
 *
 * a matching being entries no two of which share a row or a column. Without the one, every row must be matched;
 * without the other, every column: it is 0 where that is impossible. With all weights 1 and all entries 1 it is the number
 * of matchings of a bipartite graph; with the weights of missed and of false detections the total weight of all
 * associations of a tracker. (docs/matchings.md) */
typedef struct perm_csr {
    size_t struct_size;     /* sizeof(perm_csr) */
    int64_t n_rows, n_cols;
    int64_t nnz;            /* number of stored entries */
    const void *row_ptr;    /* n_rows + 1 integers of index_type; may be NULL when n_rows = 0 */
    const void *col_idx;    /* nnz integers of index_type; may be NULL when nnz = 0 */
    const void *values;     /* nnz values of value_type; NULL for PERM_VALUE_PATTERN */
    int32_t index_type;     /* perm_index_type */
    int32_t value_type;     /* perm_value_type */
    const int64_t *row_multiplicity; /* n_rows numbers >= 0; NULL: all 1 */
    const int64_t *col_multiplicity; /* n_cols numbers >= 0; NULL: all 1 */
    const void *row_unmatched; /* n_rows values of value_type: the weight of leaving each row unmatched. NULL: it must be
                                * matched. Of PERM_VALUE_PATTERN each weight is 1, and what stands there is not read */
    const void *col_unmatched; /* n_cols values, of each column */
} perm_csr;

#define PERM_CSR_INIT { sizeof(perm_csr), 0, 0, 0, NULL, NULL, NULL, PERM_INDEX_I64, PERM_VALUE_F64, NULL, NULL, \
                        NULL, NULL }

/* ---------------------------------------------------------------- options */

/* Called from one of the library's threads, never twice at once for one call, about ten times a second at most. It
 * must return: longjmp, pthread_exit and a cancelled thread leave locks held and memory unfreed. An exception of C++
 * is caught and ends the call with PERM_BAD_OPTION.
 * fraction: of the work, 0..1, never less than the last time: where a second run follows, in numbers of more digits or
 * by another engine, it stands until that run has passed it. It is 1 once, when the call has its answer, and not
 * before; a call of microseconds may tell that alone, a plan's tape (docs/repeated.md) nothing. seconds_left: an
 * estimate, of the run that is on; negative while unknown, as in planning. */
typedef void (*perm_progress_fn)(double fraction, double seconds_left, void *user);

/* Polled like perm_progress_fn; nonzero stops the call, which returns PERM_CANCELLED well within a second. */
typedef int (*perm_cancel_fn)(void *user);

/* All-zero (but struct_size) means all defaults; passing NULL for the options is the same. What is given counts, or the
 * call refuses it: PERM_BAD_OPTION, or PERM_UNSUPPORTED, with a text that says what to do instead. Threads, limits,
 * callbacks and the cache may be given to every call. PERM_FORMAT_OPTIONS of perm_info tells which count for which call,
 * docs/options.md shows it. */
typedef struct perm_opts {
    size_t struct_size;         /* sizeof(perm_opts) */
    const char *engine;         /* "auto" (NULL); "ryser", "planar", "background", "low_rank", "ferrers",
                                 * "separable", "sieve", of hafnians "hermite" on the CPU;
                                 * "frontier", "tree", of hafnians "bjorklund" on either; on a GPU "shared", "dense", "purereg", "hybrid"
                                 * (docs/engines.md) */
    const char *device;         /* "auto" (NULL), "cpu", "gpu" (the first): without one a plan can be made and
                                 * explained, and executing it is PERM_UNSUPPORTED. "gpu:0,2", "gpu:all": several
                                 * share the work, and "gpu:all+cpu" with engine tree the processor too; the
                                 * result has the same bits (docs/scale.md) */
    const char *precision;      /* "auto" (NULL): the cheapest, and again with more where the tolerance is missed;
                                 * "double"; "kahan", "dq" (terms summed in twice the precision); "dd" (all of it in
                                 * twice the precision); "exact" (integers, rationals); "mod:P" (the residue of
                                 * real integers or rationals modulo a prime P, 3 <= P < 2^62); "mpfr:BITS" (exact,
                                 * rounded to BITS bits) (docs/accuracy.md) */
    double tolerance;           /* relative error wanted, 0 = 1e-9: see perm_result.tolerance_met */
    int32_t threads;            /* at most so many, and never more than the cores this process may use;
                                 * 0 = one for each of these */
    int32_t reserved;           /* must be 0 */
    int64_t memory_limit_bytes; /* memory of a call on the CPU, 0 = three quarters of the machine's (or cgroup's);
                                 * the frontier's tables beyond it, or beyond a GPU's memory, are cut into
                                 * slices (docs/frontier.md). A second run of precision "auto" that would not
                                 * fit is not begun, but where integers have no certain digit without it; else, and
                                 * there, PERM_REFUSED_MEMORY. The peak of the process lies within a fifth of it and
                                 * 64 MB more, beside what it holds itself */
    double time_limit_seconds;  /* of a whole call: stop (PERM_REFUSED_TIME) when predicted or found to take longer.
                                 * A second run of precision "auto" that it stops leaves the first answer, but where
                                 * integers have no certain digit in that.
                                 * 0 = refuse what is predicted to take more than a day, never stop what runs;
                                 * INFINITY = no limit at all */
    uint64_t seed;              /* of the order search: other seeds try other orders */
    perm_progress_fn progress;  /* may be NULL */
    void *progress_user;
    perm_cancel_fn cancel;      /* may be NULL */
    void *cancel_user;
    const char *without;        /* reductions to leave out, by commas: "matching", "dm" (Dulmage-Mendelsohn), "d1",
                                 * "d2" (rows and columns of degree 1, 2), "fm" (Forbert-Marx), "merge" (of
                                 * repeated rows and columns), "scaling" (by powers of two), "periodic" (long
                                 * matrices of equal cells, docs/periodic.md), "structure" (of values,
                                 * docs/structure.md); "all": all but scaling. NULL or "": none left out */
    const char *decompose;      /* "auto" (NULL): what the cost model says is cheapest; "paper": SUperman's
                                 * rule, rows and columns of at most 4 entries expanded down to n = 30 */
    const char *chunks;         /* of the GPU's walk along the Gray code: "ceg" (NULL), a power of two, so that
                                 * the threads of a warp never part; "equal", to see what that is worth: its
                                 * result has not the same bits on every GPU */
    const char *cache_dir;      /* folder of compiled kernels and found orders. NULL: $PERM_CACHE_DIR, else
                                 * $XDG_CACHE_HOME/libperm, else ~/.cache/libperm; "": none */
    int64_t cache_limit_bytes;  /* of that folder; beyond it the least recently used go. 0 = 256 MiB */
    const char *checkpoint;     /* a file that the finished parts of a computation are kept in, and that it goes on
                                 * from if it is there: after a crash, a time limit, or on another machine, with the
                                 * same bits (docs/scale.md). A call that is to stop gives the parts under way ten
                                 * seconds. No plan is refused for its predicted time. NULL or "": none */
    double checkpoint_seconds;  /* between two writes of it at least; no less than a write takes. 0 = 60.
                                   Without a checkpoint: PERM_BAD_OPTION */
    int32_t gpus;               /* that predictions of time reckon with, as in explaining a plan for a cluster (which
                                 * device "auto" then is a GPU of);
                                 * 0 = those that device names */
    int32_t reserved2;          /* must be 0 */
    const char *machine;        /* NULL: plans are made for this machine. Else the JSON text that tells of another:
                                 * {"processor": "...", "cores": 16, "memory_bytes": 137438953472, "gpus": []}; of
                                 * each GPU the name, compute_capability (90), multiprocessors; of one of these the
                                 * fp64_lanes, registers, threads, and shared_bytes of a block; clock_hz,
                                 * memory_bytes, memory_bandwidth (bytes a second), l2_bytes. All keys must be there
                                 * and no others, or it is PERM_BAD_OPTION; PERM_FORMAT_MACHINE is such a text.
                                 * threads and memory_limit_bytes then are that machine's, and so are the GPUs that
                                 * device names. The plan can be explained and saved; executing it is
                                 * PERM_BAD_OPTION: load it there (docs/gpu.md) */
    const char *function;       /* "permanent" (NULL); of a symmetric matrix, the graph of its entries, "hafnian",
                                 * "loop_hafnian": see perm_compute */
} perm_opts;

#define PERM_OPTS_INIT { sizeof(perm_opts), NULL, NULL, NULL, 0.0, 0, 0, 0, 0.0, 0, NULL, NULL, NULL, NULL, \
                         NULL, NULL, NULL, NULL, 0, NULL, 0.0, 0, 0, NULL, NULL }

/* ---------------------------------------------------------------- result */

/* The permanent is mantissa * 2^exp2 (0.5 <= |mantissa| < 1, or all zero), so it may lie far beyond double.
 * Start from PERM_RESULT_INIT; a call that is given a used result frees its text first, so a loop needs one
 * perm_result_clear at its end. On failure the result is left cleared. */
typedef struct perm_result {
    size_t struct_size;          /* sizeof(perm_result) */
    double re, im;               /* the value rounded to double: inf or 0 when out of range */
    double mantissa_re, mantissa_im;
    int64_t exp2;
    double rel_error_bound;      /* |value - perm(A)| <= rel_error_bound * |perm(A)|, for certain, of the value that
                                  * `text` is, read as a decimal number or fraction (re, im and the mantissas may
                                  * round it once more); 0 when exact, INFINITY when no digit is certain */
    double abs_error_bound;      /* |value - perm(A)| <= abs_error_bound, of the same value, rounded up to a double;
                                  * tells something also where cancellation leaves no certain digit */
    int32_t exact;               /* 1: perm(A) is known exactly. mantissa * 2^exp2 is it if it fits a double, else it
                                  * rounded; an integer's text has every digit */
    int32_t tolerance_met;       /* 1: rel_error_bound <= the tolerance asked for */
    char *text;                  /* the library's. Every digit if exact and an integer; "p/q" if exact, a fraction
                                  * and computed in more than doubles, but for "mpfr:BITS"; these and exact
                                  * doubles as decimals of all their digits, 17 at least. Of all of these 17 digits
                                  * if they would have more than three million. What is not exact has 17 digits, or
                                  * two more than are certain if rel_error_bound < 1e-16. Complex: "a+bi", "a-bi" */
    const char *engine;          /* static: "frontier", "planar", "hybrid", ...; "none" when the reductions alone
                                  * gave it; of the block that takes longest, if there are several; "glynn" where
                                  * perm_compute went straight, "periodic" for a long matrix of equal cells
                                  * (docs/engines.md) */
    const char *device;          /* static: "cpu" or "gpu", of the same block */
    int64_t n, nnz;              /* order; entries that took part (explicit zeros left out by perm_compute); -1 where
                                  * a periodic matrix has more than 63 bits count */
    int32_t threads;
    int32_t transposed;          /* 1: the engine worked on the transpose */
    double subsets;              /* all but frontier: subsets summed, over all blocks */
    double states;               /* frontier: states over all rows (steps and joins, on a tree) of all blocks */
    double peak_states;          /* frontier: the most after any row, step or join */
    double operations;           /* multiply-adds done; on a tree products of states, too */
    int64_t peak_bytes;          /* what counted against memory_limit_bytes at its peak: tables, and beyond 16 MB
                                  * what planning, reductions and exact numbers held; or on the GPU, the engine's
                                  * memory there */
    double seconds_total, seconds_check, seconds_plan, seconds_run;
    int64_t blocks;              /* submatrices that the reductions left to be computed by an engine */
    int64_t blocks_computed;     /* of these: identical ones are computed once */
    double seconds_compile;      /* of seconds_run: from asking for kernels to their being loaded on the GPU, which
                                  * perm_compute opens meanwhile */
    int32_t kernels_compiled;    /* by NVRTC in this call; others were in memory or on disk */
    int32_t slices;              /* that the frontier's tables were cut into to fit the memory; 0: into none */
    double entry_rounding;       /* of perm_compute and perm_compute_with_plan: by how much of itself, to first order
                                  * and at most, perm(A) can change where each entry moves by half a unit in its last
                                  * place, as rounding to doubles moved it before the call: n 2^-53 perm(|A|) / |perm(A)|
                                  * or a bound of it. From 1 on, the permanent of the numbers that were meant may have no
                                  * digit in common with this one. 0: integers, text, patterns, doubles of at most 26
                                  * bits. It is no part of rel_error_bound, which is of A as it was given */
} perm_result;

#define PERM_RESULT_INIT { sizeof(perm_result), 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0, \
                           0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Frees what the result owns and zeroes it (struct_size stays). NULL is fine. */
PERM_API perm_status perm_result_clear(perm_result *result);

/* ---------------------------------------------------------------- computing */

/* perm(A), in one call: check, plan, run; small dense matrices without a plan, in microseconds. `opts` may be NULL.
 * Errors: 1xx for bad input; PERM_REFUSED_* before work is started, PERM_REFUSED_TIME also when a time limit
 * that was set runs out; PERM_CANCELLED; 4xx.
 *
 * With opts->function "hafnian" it is the hafnian of a symmetric n x n matrix, both halves of which are given: the sum, over
 * all ways to put the lines 0 to n - 1 into pairs {i, j}, of the product of their entries a_ij (Caianiello, Nuovo Cimento
 * 10, 1953); of a graph's adjacency matrix the number of its perfect matchings. perm(A) is that of [[0, A], [A^T, 0]]. Of an
 * odd n it is 0, of n = 0 it is 1. The diagonal does not count, but for copies of a line: row_multiplicity says how often
 * each counts (col_multiplicity is NULL, or the same), and two copies of line i have the entry a_ii.
 * With opts->function "loop_hafnian", or with row_unmatched, lines may also stay single, each at the price of its loop,
 * which is row_unmatched[i], or without these a_ii: the loop hafnian (Bjorklund, Gupt and Quesada, ACM J. Exp.
 * Algorithmics 24 (2019)). col_unmatched is NULL.
 * Plans made with that option (perm_plan_create, perm_task_plan) are executed, also in batches and shards, saved and
 * explained. A bound holds for the upper half as it is given. PERM_BAD_MATRIX where the matrix is not symmetric: doubles may
 * differ by rounding, 2^-46 of the larger, numbers of other types not at all. (docs/hafnians.md) */
PERM_API perm_status perm_compute(const perm_csr *a, const perm_opts *opts, perm_result *result);

/* A matrix as a product, A = U V^T, of order n and of the rank `rank` at most. */
typedef struct perm_factors {
    size_t struct_size; /* sizeof(perm_factors) */
    int64_t n, rank;
    const void *u, *v;  /* n * rank values each, row by row: a[i, j] = sum_t u[i * rank + t] v[j * rank + t]; may be
                         * NULL where n or rank is 0 */
    int32_t value_type; /* perm_value_type, not PERM_VALUE_PATTERN */
    int32_t reserved;   /* must be 0 */
} perm_factors;

#define PERM_FACTORS_INIT { sizeof(perm_factors), 0, 0, NULL, NULL, PERM_VALUE_F64, 0 }

/* Computes perm(U V^T); the matrix is never formed. With the monomials of degree n in `rank` variables, of which there are
 * binomial(n + rank - 1, rank - 1) (Barvinok, Math. Oper. Res. 21, 1996; docs/structure.md): order 1000 at rank 2 takes a
 * moment. The factors are taken exactly, whatever their type, and so is the permanent, which of doubles and fractions is
 * then rounded to a double, within its bound, unless precision is "exact".
 * result->nnz: the entries of both factors that are not 0, in the columns that count; engine "low_rank", or "none" where a
 * line of a factor, or all of one, is 0. A checkpoint keeps the primes that are done.
 * Errors: those of perm_compute, naming u or v, row and column; PERM_BAD_OPTION for a precision that is neither "auto" nor
 * "exact", and for an engine other than "auto" and "low_rank"; PERM_REFUSED_MEMORY beyond 2^24 monomials. On failure the
 * result is cleared. */
PERM_API perm_status perm_compute_product(const perm_factors *a, const perm_opts *opts, perm_result *result);

typedef struct perm_plan perm_plan;

/* perm_compute, and the plan that it went by, for perm_plan_explain and perm_plan_source: it is of the entries as they
 * were computed with, so other calls take it for PERM_BAD_ARGUMENT. Where small dense matrices were answered without a
 * plan, it is the one that would have been made; the result's times do not count it.
 * *plan is NULL on failure. Free it with perm_plan_destroy. Errors: those of perm_compute. */
PERM_API perm_status perm_compute_with_plan(const perm_csr *a, const perm_opts *opts, perm_result *result,
                                            perm_plan **plan);

/* A plan is everything that follows from the pattern alone: reductions, engines, orders, cost. a->values may be
 * NULL; values that are there tell only which rows and columns are multiples of each other, and that none is
 * negative. Others may be executed: a plan that was told of no negative ones is made anew, each time, for values
 * that have some. The plan keeps nothing of `a`, and keeps the options, their callbacks included.
 *
 * Analyses the pattern. *plan is NULL on failure. Free it with perm_plan_destroy.
 * What the limits forbid still makes a plan, so that it can be explained; executing it is PERM_REFUSED_*, unless
 * nothing was known of the values and those executed have repeated rows or columns that bring it within the
 * limits. A time limit that runs out while planning is PERM_REFUSED_TIME at once. */
PERM_API perm_status perm_plan_create(const perm_csr *a, const perm_opts *opts, perm_plan **plan);

/* The permanent of the plan's pattern with these values: nnz of them, of the value_type and in the order of
 * the perm_csr that made the plan (NULL for a pattern plan); behind them, where its rows may stay unmatched, their n_rows
 * weights, and then, where its columns may, their n_cols. Explicit zeros are fine. The plan of a full matrix of order
 * 20 or less begins as perm_compute does, with the same bits (docs/engines.md, "Small dense matrices"). Another small plan
 * of doubles runs from its frontier written out (docs/repeated.md): in microseconds, on the calling thread, with the same
 * bits each time, and the last ones perhaps others than perm_compute's. */
PERM_API perm_status perm_plan_execute(const perm_plan *plan, const void *values, perm_result *result);

/* The permanents of `count` matrices of the plan's pattern, at the same time on all threads where the plan is small:
 * for thousands of them a small part of the time of as many calls. values: as in perm_plan_execute; matrix k's begin
 * k * stride values after the first's (stride >= nnz, weights counted, or 0 for the same one). results: `count` of them, each from
 * PERM_RESULT_INIT and, in the end, for perm_result_clear; each is as perm_plan_execute would fill it, but its times
 * are 0, and its text is NULL unless there is more to say than a double holds (exact integers beyond 2^53,
 * fractions, precisions above double).
 * With a checkpoint in the plan's options the matrices that are done are kept there, some at a time.
 * Errors: those of perm_plan_execute, naming the matrix; PERM_BAD_ARGUMENT for another stride, or for results of
 * different struct_size. Then all results are cleared (but for that last one). */
PERM_API perm_status perm_plan_execute_batch(const perm_plan *plan, const void *values, int64_t stride,
                                             int64_t count, perm_result *results);

/* The permanent's derivatives by all stored entries, in one call for the time of a few executions: by a[i,j] it is the
 * permanent of what is left without row i and column j. Computed in doubles, whatever the plan's precision: along
 * the frontier and back on the CPU, or, of square matrices up to n = 40 that are nearly full, by sums over signs, there or
 * on a GPU, or, of planar ones, by an inverse at the entries, if that is quicker or the frontier does not fit the memory
 * (docs/gradients.md).
 * result->engine says which: "frontier", "glynn" or "planar"; result->device where. A plan of the engine "frontier" or
 * "planar", by name, keeps to it.
 * gradient: as many numbers as there are `values`, in their order, by weights too; doubles, or for PERM_VALUE_C128 pairs of
 * doubles re, im: d perm / d a, the complex derivative. An entry that is 0 has a derivative too; with multiplicities it is
 * by the number as it was written, for all its copies together; of an m x n matrix it is that of its permanent.
 * error_bounds (may be NULL): a double for each, with |derivative as written - true one| <= bound for certain: 0 if
 * it is exact, INFINITY where it is beyond the range of double.
 * result (may be NULL): the permanent, from the same run: in doubles, so perm_plan_execute may tell more digits.
 * With a checkpoint the sums over signs are kept in their parts; else there is one part, the whole.
 * The first call along the frontier makes what the others use again, and it stays with the plan: its states and the
 * ways between them, written out.
 * Of a hafnian it is the derivative by a pair, d haf / d a_ij = d haf / d a_ji as both move together: the hafnian of what is
 * left without lines i and j; of a loop hafnian, by a_ii, that without line i. Both entries of a pair have that number: where a
 * change of each is added up, take one half of the matrix. Along a tree ("frontier"), or by one hafnian for each pair, by the
 * engine that result->engine names. PERM_UNSUPPORTED where a diagonal entry stands for loops and, by multiplicities, for
 * pairs of copies as well: give the loops in row_unmatched.
 * Errors: those of perm_plan_execute; PERM_REFUSED_MEMORY where they do not fit memory_limit_bytes: the frontier is
 * not cut into slices here; PERM_UNSUPPORTED for complex numbers in PERM_VALUE_TEXT. Then nothing is written. */
PERM_API perm_status perm_plan_gradient(const perm_plan *plan, const void *values, void *gradient,
                                        double *error_bounds, perm_result *result);

/* The gradients of `count` matrices of the plan's pattern, at the same time on all threads where the plan is short.
 * values, stride, count: as in perm_plan_execute_batch. gradients: one after the other, each as perm_plan_gradient writes it,
 * with the same bits; error_bounds (may be NULL): as many doubles as derivatives in all. results (may be NULL): `count` of
 * them, as perm_plan_execute_batch has them, without texts.
 * Errors: those of perm_plan_gradient, naming the matrix; PERM_BAD_ARGUMENT for another stride, or for results of
 * different struct_size. Then the results are cleared, and what stands in the other two is of no meaning. */
PERM_API perm_status perm_plan_gradient_batch(const perm_plan *plan, const void *values, int64_t stride,
                                              int64_t count, void *gradients, double *error_bounds,
                                              perm_result *results);

/* The second derivatives of the permanent, times a direction: how perm_plan_gradient's numbers change as the values move
 * along it, the Hessian times a vector, which is never formed, for the time of six complex gradients (complex: nine): those
 * at values + x direction, x the eighth roots of unity times a small power of two (Cauchy's formula), and one of
 * magnitudes that bounds what these leave; bounds are some hundred times those of a gradient (docs/polynomials.md).
 * direction: as many numbers as `values`, of the same kind and in the same order; of a pattern doubles.
 * product: as many numbers as the gradient has, as it writes them. error_bounds (may be NULL): as there.
 * Errors: those of perm_plan_gradient, naming what of the direction is at fault; PERM_UNSUPPORTED where values and
 * direction lie too far apart for doubles. Then nothing is written. */
PERM_API perm_status perm_plan_hessian_product(const perm_plan *plan, const void *values, const void *direction,
                                               void *product, double *error_bounds);

/* How likely each entry is to be in the matching, and each line to stay unmatched, where a matching's probability is its
 * share of the sum over all (perm_csr): what a tracker asks of its associations (joint probabilistic data association).
 * marginals: nnz + n_rows + n_cols probabilities: of each stored entry, in the order of the perm_csr; that each row stays
 * unmatched; that each column does. Lines that must be matched have 0; of an m x n matrix without weights those of the
 * longer side may stay unmatched, with weight 1. With multiplicities they are the expected numbers of copies. Of a graph
 * (hafnians) both entries of a pair have its probability, those of single lines stand in the places of rows (of loops on the
 * diagonal in their entries'), and columns have 0.
 * error_bounds (may be NULL): as many, with |told - true| <= bound for certain.
 * result (may be NULL): the sum over all matchings, from the same run, in doubles.
 * values: as in perm_plan_execute; none may be negative. They may lie far beyond each other: where products of doubles
 * would leave their range, numbers have exponents of their own. Matrices of a short side, or whose lines are entangled by
 * few at once (up to about 28 lines), go over the sets of these lines, on all threads, others along the frontier and back,
 * or by the inverse of a planar matrix with its signs, as gradients do (docs/matchings.md).
 * Errors: those of perm_plan_gradient; PERM_BAD_MATRIX for a negative or complex weight, and where no matching has a weight
 * above 0: then there are no probabilities; PERM_UNSUPPORTED where weights lie too far apart for all that, and for a plan of
 * a precision other than "auto", "double" and "exact" (doubles all the same). Nothing is written then. */
PERM_API perm_status perm_plan_marginals(const perm_plan *plan, const void *values, double *marginals,
                                         double *error_bounds, perm_result *result);

/* The same of one matrix, its values and weights in the perm_csr. Where it takes less than planning its permanent would, no plan
 * is made. The options are those of perm_plan_create that count for perm_plan_marginals. Errors: those of both. */
PERM_API perm_status perm_marginals(const perm_csr *a, const perm_opts *opts, double *marginals, double *error_bounds,
                                    perm_result *result);

/* perm_plan_marginals for `count` matrices of the plan's pattern, on all threads: stride as in perm_plan_execute_batch; matrix k's
 * numbers begin at k * (nnz + n_rows + n_cols). Entries that some of them lack are 0 there: a plan of the union of their
 * patterns serves all. results (may be NULL): `count` of them, as perm_plan_execute_batch has them, without texts.
 * Errors: those of perm_plan_marginals, naming the matrix; PERM_BAD_ARGUMENT for another stride, or for results of
 * different struct_size. Then the results are cleared, and what stands in the other two is of no meaning. */
PERM_API perm_status perm_plan_marginals_batch(const perm_plan *plan, const void *values, int64_t stride, int64_t count,
                                               double *marginals, double *error_bounds, perm_result *results);

/* The numbers of matchings with k entries, k = 0 .. min(n_rows, n_cols) (multiplicities counted), which are `count` - 1:
 * the sums over all sets of k entries, no two in one row or column, of their products. Of a 0/1 matrix these are numbers of
 * matchings of a bipartite graph, the coefficients of its matching and rook polynomials; the last one of a square matrix is
 * its permanent. With function "hafnian" they are those of the graph of a symmetric matrix, with k pairs of lines,
 * k = 0 .. half of the lines. a->row_unmatched and a->col_unmatched must be NULL. results: `count` of them, each from
 * PERM_RESULT_INIT and, in the end, for perm_result_clear. All are computed exactly, at once; of doubles each is then rounded
 * to a double, within its bound, unless precision is "exact". What is told of engine, counts and times is of all of them.
 * Errors: those of perm_compute; PERM_BAD_ARGUMENT for another count; PERM_BAD_OPTION for a precision that is neither
 * "auto" nor "exact". Then all results are cleared. */
PERM_API perm_status perm_matchings(const perm_csr *a, const perm_opts *opts, int64_t count, perm_result *results);

/* The coefficients of the polynomial perm(C + x L), from x^0 on: C = a, with its weights, which stand in the sum as they are,
 * and L = `linear`: nnz values of a's value_type, of the same entries in the same order, so that where one of both matrices
 * has no entry a 0 is written. results: `count` of them, one more than the lesser number of lines one way (multiplicities
 * counted), each from PERM_RESULT_INIT and, in the end, for perm_result_clear; above the degree they are 0. With L = I these
 * are the sums of the permanents of all principal submatrices of one order, with L a part of A a permanent by how many of
 * these entries are used (docs/polynomials.md). With function "hafnian" or "loop_hafnian" they are those of haf(C + x L), both
 * symmetric; `count` is then half of the lines + 1, or lines + 1 where lines may stay single.
 * Of integers and text all are exact, fractions then rounded to doubles unless precision is "exact": x is a power of two so
 * large that one exact permanent has all of them as its digits (Kronecker). Of doubles up to 20 lines by a sum over signs of products of polynomials, others exactly where
 * that is quick, else by the permanents at roots of unity (Cauchy), each within its bound; where one misses the tolerance and
 * precision is "auto", all follow in numbers of more digits, if the limits allow. "double", "dd": in these alone. "exact": no
 * coefficient is rounded. "mod:P": residues, by P > count - 1 points, else of the exact ones.
 * Errors: those of perm_compute; PERM_BAD_ARGUMENT for another count, for PERM_VALUE_PATTERN, which has no values, and where
 * linear is a null pointer; PERM_BAD_OPTION for other precisions. Then all results are cleared. */
PERM_API perm_status perm_polynomial(const perm_csr *a, const void *linear, const perm_opts *opts, int64_t count,
                                     perm_result *results);

typedef enum perm_format {
    PERM_FORMAT_TEXT = 0,
    PERM_FORMAT_JSON = 1,
    PERM_FORMAT_PICTURE = 2, /* of perm_plan_explain alone */
    PERM_FORMAT_MACHINE = 3, /* of perm_info alone */
    PERM_FORMAT_OPTIONS = 4  /* of perm_info alone */
} perm_format;

/* What the plan will do and what that costs: every candidate engine's states or subsets, operations, bytes,
 * predicted seconds, and why one was chosen.
 * PERM_FORMAT_PICTURE: the JSON on one line, and what a picture shows in the key "picture", O(n + nnz) numbers.
 * Lists of rows and columns are zero-based; rows, cols name the lines in an order:
 *   row_ptr, col  the square matrix, repeated lines and added rows of ones written out
 *   blocks        null without a perfect matching. rows, cols: an order in which the matrix is lower block
 *                 triangular (Dulmage-Mendelsohn); sizes: of the blocks down its diagonal, one block where that
 *                 reduction is left out. Entries left of a block are in no perfect matching
 *   costliest     the block that takes longest, or null. row_ptr, col; rows, cols: in the order the frontier
 *                 meets them; transposed: it runs through the columns; open, states: columns (or rows) open and
 *                 states kept after each line it runs through, as the fastest of its forms would; block: which of
 *                 `blocks` it is, in the same order there, null when other reductions have changed it. Without
 *                 a frontier the order is the one given, and open and states are empty. branches: null, or of a
 *                 frontier on a tree its lists of states in the order of the walk, the result last: left, right:
 *                 the two that it was joined from, -1 where it began with a leaf; steps: leaves added to it;
 *                 width: lines of its largest middle set; states: the most of it. Then open and states are empty
 *   engines       name and time of each candidate, in words
 *   reduced, time what the reductions did, and the predicted time of it all, in words
 * Writes at most `capacity` bytes, the closing NUL included, to `buffer`; *needed (may be NULL) is the size
 * of the whole text with its NUL. PERM_BAD_ARGUMENT if it does not fit; with buffer = NULL and capacity = 0
 * only the size is told, and that is PERM_OK. */
PERM_API perm_status perm_plan_explain(const perm_plan *plan, perm_format format, char *buffer,
                                       size_t capacity, size_t *needed);

/* The CUDA C++ of the kernel that computes the block that takes longest, whether or not there are a GPU and
 * NVRTC here to run it. It follows from the pattern, the options and the engine: no value of the matrix is in
 * it. Only its first line, a comment, depends on more: it names the target, NVRTC's version and the flags that it
 * would be compiled with.
 * arch: the target, "sm_NN" for machine code or "compute_NN" for PTX. NULL: the first GPU's; with no GPU the
 * newest that NVRTC knows; with neither the line says that there is none.
 * buffer, capacity and needed as in perm_plan_explain; the size is the same in each call with one arch.
 * Errors: PERM_BAD_OPTION for another kind of arch; PERM_UNSUPPORTED when the plan has no kernel: its engine is
 * one of the CPU's, the reductions leave nothing to compute, or no kernel can hold the block. */
PERM_API perm_status perm_plan_source(const perm_plan *plan, const char *arch, char *buffer, size_t capacity,
                                      size_t *needed);

/* The plan as bytes, to be kept beside the data or sent to another process. They are the same for the same plan on
 * any machine; what limits refused, of an engine too, is in them with its reasons. buffer, capacity and needed as in
 * perm_plan_explain, but without a NUL. The file of the command `perm plan` is the same. */
PERM_API perm_status perm_plan_save(const perm_plan *plan, void *buffer, size_t capacity, size_t *needed);

/* A saved plan again, or that of a saved task of a plan, without analysing the pattern. Executing it gives the same
 * bits as the plan that was saved, on any machine; but one of engine "periodic" is saved in blocks, whose digits are as
 * certain and may be others (docs/engines.md). *plan is NULL on failure.
 * opts (may be NULL): threads, memory_limit_bytes, time_limit_seconds, machine, cache, callbacks: taken from here.
 * All else is the plan's: leave it at its default, or as it was; of device "cpu" and "gpu" that is the one on which all
 * of it is computed. What limits forbade when the plan was made stays forbidden; those of opts are for its execution.
 * Errors: PERM_BAD_ARGUMENT for bytes that are damaged, cut off or no plan; PERM_UNSUPPORTED for a plan of another
 * version of libperm; PERM_BAD_OPTION for options that the plan was not made with. */
PERM_API perm_status perm_plan_load(const void *bytes, size_t size, const perm_opts *opts, perm_plan **plan);

/* Whether a plan is of this matrix: of its n_rows, n_cols and nnz, its entries in their order, its value_type and
 * its multiplicities; the values themselves are not read. A plan reads as many values, of such a type, as the
 * matrix has that it was made of: where the bytes of perm_plan_load and the values came different ways, ask
 * before they meet. Takes the time of reading the pattern.
 * Errors: PERM_BAD_ARGUMENT for a plan of another matrix, with a text that says what differs; for a matrix that is
 * none, those of perm_plan_create. */
PERM_API perm_status perm_plan_check_matrix(const perm_plan *plan, const perm_csr *a);

/* ---------------------------------------------------------------- dense matrices */

/* Dense matrices of one shape, one behind the other, each row by row. Multiplicities as in perm_csr, the same for all
 * of them. The pointers are only read, and only during the call. */
typedef struct perm_dense {
    size_t struct_size;     /* sizeof(perm_dense) */
    int64_t n_rows, n_cols; /* of each */
    int64_t count;          /* of matrices; PERM_DENSE_INIT: 1 */
    const void *values;     /* count * n_rows * n_cols of value_type; may be NULL where that is 0 */
    int32_t value_type;     /* PERM_VALUE_F64, _C128, or _I64 (of at most 2^53, but in perm_permanents) */
    int32_t reserved;       /* must be 0 */
    const int64_t *row_multiplicity; /* n_rows numbers >= 0; NULL: all 1 */
    const int64_t *col_multiplicity; /* n_cols numbers >= 0; NULL: all 1 */
} perm_dense;

#define PERM_DENSE_INIT { sizeof(perm_dense), 0, 0, 1, NULL, PERM_VALUE_F64, 0, NULL, NULL }

/* The permanents of dense matrices, of millions of small ones too: perm_compute's numbers without what it tells beside.
 * permanents: `count` numbers; doubles, or for PERM_VALUE_C128 pairs re, im; every bit is perm_compute's.
 * error_bounds (may be NULL): a double for each, with |number - perm| <= bound for certain; 0: it is exact; INFINITY: beyond
 * the range of double. The tolerance is what perm_compute takes it for: what more digits are looked for.
 * Up to order 20 each goes straight, many at the same time; others as perm_compute has them, one after the other. A matrix
 * has the same bits alone, in a batch and for any number of threads. All options count, and those of limits for all of the
 * matrices together.
 * Errors: those of perm_compute, naming the matrix. What the arrays hold then is of no use. */
PERM_API perm_status perm_permanents(const perm_dense *a, const perm_opts *opts, void *permanents, double *error_bounds);

/* The permanents of what is left of a matrix with one line more one way than the other, multiplicities counted, when a
 * copy of each line of the longer way is left out: of n + 1 rows and n columns without each row, of n rows and n + 1
 * columns without each column. These are the sub-permanents by which a permanent is expanded, and by which a boson
 * sampler draws its next photon. All together take three times as long as one (docs/gradients.md, "Sub-permanents").
 * sub_permanents: for each matrix one number for each line of the longer way, as it was written, copies or not; doubles,
 * or for PERM_VALUE_C128 pairs re, im. Of a line of multiplicity 0 there is no copy to leave out: 0.
 * error_bounds (may be NULL): a double for each, with |number - true one| <= bound for certain; 0: it is exact, as it is
 * of integers below 2^53 and their like; INFINITY: beyond the range of double.
 * Of the options device, threads, limits, checkpoint and callbacks count; a matrix has the same bits alone, in a batch, for
 * any number of threads and on GPUs, which take matrices of 12 lines and more: with device "gpu", or where they are quicker.
 * Errors: PERM_BAD_ARGUMENT; PERM_BAD_MATRIX for another shape, a value that is not finite; PERM_UNSUPPORTED for more than
 * 40 lines either way, more than 56 copies of a line that is not left out; PERM_REFUSED_TIME where it is predicted to
 * take longer than the limit; PERM_CANCELLED. What the arrays hold then is of no use. */
PERM_API perm_status perm_sub_permanents(const perm_dense *a, const perm_opts *opts, void *sub_permanents,
                                         double *error_bounds);

/* The derivatives of the permanents of square matrices (multiplicities counted) by all entries, those that are 0 too: by
 * a[i,j] the permanent without row i and column j, times the copies of both. No plan is made: by sums over signs, in
 * O(n 2^n), whatever the entries are. For sparse ones, and other shapes: perm_plan_gradient.
 * gradients: as many numbers as there are values, in their order; doubles, or pairs for PERM_VALUE_C128.
 * error_bounds (may be NULL): a double for each, as above.
 * permanents, permanent_bounds (may be NULL): of each matrix its permanent from the same sums, and the bound.
 * Options and errors as above; n, counted, at most 40. */
PERM_API perm_status perm_gradients(const perm_dense *a, const perm_opts *opts, void *gradients, double *error_bounds,
                                    void *permanents, double *permanent_bounds);

/* ---------------------------------------------------------------- boson sampling */

/* Photons that come into an interferometer: a photon of mode j in leaves by mode z with amplitude
 * amplitudes[z * inputs + j]. The columns of modes that photons come in by are orthonormal, within 1e-6. */
typedef struct perm_boson {
    size_t struct_size;          /* sizeof(perm_boson) */
    int64_t modes, inputs;       /* out, in: rows and columns of the amplitudes */
    const void *amplitudes;      /* modes * inputs pairs of doubles re, im, row by row */
    int64_t photons;             /* at most 64; more than 41 only where few of them reach the same modes */
    const int64_t *photon_modes; /* of each photon the mode in, in any order, some perhaps more than once */
} perm_boson;

#define PERM_BOSON_INIT { sizeof(perm_boson), 0, 0, NULL, 0, NULL }

/* Draws samples of where the photons leave, independent of each other: the outcome with s_z photons in mode z has probability
 * |perm(amplitudes of the modes out and in, repeated)|^2 / (prod s_z! prod t_j!), t_j coming in by mode j. By Clifford and
 * Clifford's algorithm; docs/boson.md says what is exact.
 * occupations: shots * modes numbers, of each sample how many photons leave by each mode.
 * Of the options threads, limits, checkpoint and callbacks count. Errors: PERM_BAD_ARGUMENT; PERM_BAD_MATRIX for columns
 * that are not orthonormal; PERM_UNSUPPORTED for more photons; PERM_REFUSED_TIME; PERM_CANCELLED. What the array holds then is of no
 * use. */
PERM_API perm_status perm_sample_photons(const perm_boson *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                                         int64_t *occupations);

/* ---------------------------------------------------------------- bounds, estimates, samples */

/* lower <= |perm(A)| <= upper, for certain, roundings included; each is mantissa * 2^exp2 (0.5 <= mantissa < 1, or 0). Of
 * nonnegative matrices that is perm(A) itself. Start from PERM_INTERVAL_INIT; nothing in it is to be freed. */
typedef struct perm_interval {
    size_t struct_size;       /* sizeof(perm_interval) */
    double lower_mantissa;
    int64_t lower_exp2;
    double upper_mantissa;
    int64_t upper_exp2;
    const char *lower_method; /* static: whose bound it is of the block that counts most: "gurvits", "bethe", ...; "exact",
                               * "none" (docs/estimates.md) */
    const char *upper_method;
    int32_t exact;            /* 1: both are perm(A) */
    int32_t of_magnitude;     /* 1: some entry is negative or complex: bounds of |perm(A)| */
    int64_t blocks;           /* that the reductions left */
    int64_t blocks_exact;     /* of these: computed exactly, being quick */
    double seconds_total;
} perm_interval;

#define PERM_INTERVAL_INIT { sizeof(perm_interval), 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0 }

/* Bounds in milliseconds, whatever the size: after the reductions, block by block, the best of the bounds known.
 * Of the options limits, callbacks, threads and without count. Errors: those of perm_compute; nothing is refused
 * for its predicted time, and what takes longer than time_limit_seconds is stopped (PERM_REFUSED_TIME). */
PERM_API perm_status perm_bounds(const perm_csr *a, const perm_opts *opts, perm_interval *bounds);

/* What an estimate is to come to. All-zero (but struct_size) means the defaults. */
typedef struct perm_estimate_opts {
    size_t struct_size;  /* sizeof(perm_estimate_opts) */
    double epsilon;      /* relative error, above 0 and below 1; 0 = 0.01. Of signed and complex matrices: the half width
                          * asked for, as a share of the estimate's scale (docs/estimates.md) */
    double delta;        /* probability that the error is larger, above 0 and below 1; 0 = 0.05 */
    uint64_t seed;       /* of the samples */
    const char *method;  /* "auto" (NULL): the one predicted to be quickest; others by name (docs/estimates.md) */
    int64_t samples;     /* at most, rounded up to whole chunks of each block; 0: as many as the guarantee takes */
} perm_estimate_opts;

#define PERM_ESTIMATE_OPTS_INIT { sizeof(perm_estimate_opts), 0.0, 0.0, 0, NULL, 0 }

/* Start from PERM_ESTIMATED_INIT; nothing in it is to be freed. Each number is mantissa * 2^exp2. */
typedef struct perm_estimated {
    size_t struct_size;          /* sizeof(perm_estimated) */
    double re, im;               /* the estimate, rounded to double: inf or 0 when out of range */
    double mantissa_re, mantissa_im;
    int64_t exp2;
    double lower_mantissa;       /* perm(A) lies between both with probability 1 - delta; for certain if exact */
    int64_t lower_exp2;
    double upper_mantissa;
    int64_t upper_exp2;
    double error_mantissa;       /* additive estimates: |estimate - perm(A)| <= this with probability 1 - delta */
    int64_t error_exp2;
    double epsilon, delta;       /* what is guaranteed; 0 where exact, epsilon INFINITY where additive */
    int32_t exact;               /* 1: known for certain, within roundings that the interval holds */
    int32_t additive;            /* 1: terms cancel (below): the error is additive, lower and upper are of re */
    int64_t samples;             /* drawn */
    int64_t accepted;            /* of these */
    const char *method;          /* static */
    int64_t blocks, blocks_exact;
    double seconds_total, seconds_plan;
} perm_estimated;

#define PERM_ESTIMATED_INIT { sizeof(perm_estimated), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0 }

/* The permanent within a factor 1 +- epsilon, with probability 1 - delta, of a matrix that may be far too large to be
 * computed: what falls apart is computed exactly, the rest estimated from samples. `opts` and `estimate_opts` may be NULL.
 * So too where signs of lines make all entries nonnegative. Of others terms cancel: unbiased, its error additive.
 * Errors: those of perm_compute; PERM_BAD_OPTION for epsilon or delta out of (0, 1) and unknown methods;
 * PERM_REFUSED_TIME where it is predicted, or found, to take longer than the time limit.
 * Checkpoints and devices count as in perm_compute, with the same bits; in its progress *estimate is what is known so far. */
PERM_API perm_status perm_estimate(const perm_csr *a, const perm_opts *opts, const perm_estimate_opts *estimate_opts,
                                   perm_estimated *estimate);

/* Draws `shots` matchings of a nonnegative matrix, independent of each other: sigma with probability
 * prod_i a[i, sigma(i)] / perm(A), exactly (but for roundings within 1e-9): along the frontier backwards where it fits,
 * line by line where it is planar and too wide for that, each sample checked against its product over the permanent
 * to 2^-32 (docs/structure.md), else by rejection.
 * columns: shots * n_rows numbers: of each sample the column of each row, -1 for a row that stays unmatched. With function
 * "hafnian" or "loop_hafnian" the line that each line is matched to, itself by its loop: along a tree, or, of up to 64
 * lines, line by line, by hafnians of what is left.
 * A checkpoint (perm_opts) keeps all samples that are drawn, four bytes a row, which the memory limit must allow for.
 * Errors: those of perm_compute; PERM_BAD_MATRIX for negative or complex entries, and where the permanent is 0;
 * PERM_UNSUPPORTED for multiplicities. What the array holds then is of no use. */
PERM_API perm_status perm_sample(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed, int64_t *columns);

/* The samples of perm_sample, the same bits, some at a time: memory for more than are drawn at once is never needed.
 * perm_sampler_create: for `shots` in all, by which the way to draw them is chosen; *sampler is NULL after an error. The
 * matrix may be freed then; what progress and cancel of `opts` point to must outlive the sampler. The time limit
 * is for all from here on.
 * A checkpoint is refused: what is drawn is the caller's to keep.
 * perm_sampler_draw: the next `count` of them, count * n_rows columns; one call at a time. After an error the same ones come
 * again, unless the sampler was cancelled or its time is over.
 * Errors: those of perm_sample; PERM_BAD_ARGUMENT for more than are left. */
typedef struct perm_sampler perm_sampler;

PERM_API perm_status perm_sampler_create(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                                         perm_sampler **sampler);
PERM_API perm_status perm_sampler_draw(perm_sampler *sampler, int64_t count, int64_t *columns);
PERM_API perm_status perm_sampler_destroy(perm_sampler *sampler); /* NULL is fine */

/* ---------------------------------------------------------------- checkpoints, partial results */

/* What a shard of a task (below) came to: bytes that are the same on every machine, with the digests of what is computed,
 * the shard's number and a checksum. Of some hundred bytes; of plans with many blocks, more. Start from
 * PERM_PARTIAL_INIT; a call that is given a used one frees its bytes first. Those to be combined may be the caller's
 * own, as read from a file, or a whole file of the command `perm shard`, which holds several shards: then bytes and size
 * are all that is set, and they are not for perm_partial_clear. */
typedef struct perm_partial {
    size_t struct_size;
    void *bytes; /* the library's */
    size_t size; /* of them */
} perm_partial;

#define PERM_PARTIAL_INIT { sizeof(perm_partial), NULL, 0 }

PERM_API perm_status perm_partial_clear(perm_partial *partial); /* NULL is fine */

/* What stands in a checkpoint (perm_opts.checkpoint): matrix, engine, how much is done, how long that took and what is
 * left. buffer, capacity and needed as in perm_plan_explain.
 * Errors: PERM_BAD_OPTION where there is none, or none that can be read; PERM_UNSUPPORTED for another version's. */
PERM_API perm_status perm_checkpoint_describe(const char *file, perm_format format, char *buffer, size_t capacity,
                                              size_t *needed);

/* Frees a plan. NULL is fine. No execution of it may be running. */
PERM_API perm_status perm_plan_destroy(perm_plan *plan);

/* ---------------------------------------------------------------- tasks */

/* Whatever is computed in numbered pieces, with what it is computed from, as a handle: run at once (with a checkpoint, if
 * the options name one), or in shards, by any number of processes and machines. It is made by
 *   perm_task_plan       what perm_plan_execute takes, which must outlive the task
 *   perm_task_estimate   what perm_estimate takes; nothing of it is kept but what progress and cancel point to
 *   perm_task_matchings  what perm_matchings takes; so too
 *   perm_task_polynomial what perm_polynomial takes; so too
 *   perm_task_gradient   what perm_plan_gradient takes, which must outlive the task
 *   perm_task_minors     what perm_sub_permanents takes; nothing of it is kept, as above
 *   perm_task_periodic   what perm_periodic_terms takes (below): a plan, which must outlive the task, and lengths
 *   perm_task_samples    what perm_sample takes; so too. Its answer is shots * n_rows columns
 *   perm_task_photons    what perm_sample_photons takes; so too. Its answer is shots * modes columns: the occupations
 *   perm_task_batch      what perm_plan_execute_batch takes: the plan and the values must outlive the task
 * each of which checks, and plans once, what all that follows needs. *task is NULL on failure; free it with
 * perm_task_destroy. One task may be run, and its shards, by many threads at once.
 * Errors: those of the function named. */
typedef struct perm_task perm_task;

PERM_API perm_status perm_task_plan(const perm_plan *plan, const void *values, perm_task **task);
PERM_API perm_status perm_task_estimate(const perm_csr *a, const perm_opts *opts, const perm_estimate_opts *estimate_opts,
                                        perm_task **task);
PERM_API perm_status perm_task_matchings(const perm_csr *a, const perm_opts *opts, perm_task **task);
PERM_API perm_status perm_task_polynomial(const perm_csr *a, const void *linear, const perm_opts *opts, perm_task **task);
PERM_API perm_status perm_task_gradient(const perm_plan *plan, const void *values, perm_task **task);
PERM_API perm_status perm_task_minors(const perm_dense *a, const perm_opts *opts, perm_task **task);
PERM_API perm_status perm_task_samples(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                                       perm_task **task);
PERM_API perm_status perm_task_photons(const perm_boson *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                                       perm_task **task);
PERM_API perm_status perm_task_batch(const perm_plan *plan, const void *values, int64_t stride, int64_t count,
                                     perm_task **task);

/* Where an answer goes: as many results, numbers and columns as perm_task_room tells, each of the caller's arrays with its
 * count; of an estimate the estimate alone, of a gradient the derivatives and one result, the permanent. What is in them is
 * what the function named above tells; on failure results are left cleared, and what arrays hold then is of no use. Start
 * from PERM_ANSWER_INIT. */
typedef struct perm_answer {
    size_t struct_size;       /* sizeof(perm_answer) */
    perm_result *results;     /* to be cleared one by one (perm_result_clear) */
    int64_t count;            /* of them */
    perm_estimated *estimate; /* in its progress it is what is known so far */
    double *numbers;          /* derivatives, minors: of complex ones the real and the imaginary part, one behind the other */
    int64_t numbers_count;    /* of doubles */
    double *error_bounds;     /* of the numbers; NULL: none are wanted */
    int64_t bounds_count;
    int64_t *columns;         /* samples */
    int64_t columns_count;
} perm_answer;

#define PERM_ANSWER_INIT { sizeof(perm_answer), NULL, 0, NULL, NULL, 0, NULL, 0, NULL, 0 }

/* Into `room`, with null pointers, the counts that the task's answer takes. */
PERM_API perm_status perm_task_room(const perm_task *task, perm_answer *room);

/* The work in numbered shards that know nothing of each other. Who ran which, in which order, how often and with how many
 * threads does not show: combined, they have the bits of perm_task_run, of a plan of engine "periodic" those of its blocks.
 * *count shards, 1 at least, of an estimate as many as are expected to be enough, each of about *seconds on one thread or
 * GPU; *results: how many results it comes to, 0 of an estimate. Each of the three may be NULL. */
PERM_API perm_status perm_task_shards(const perm_task *task, int64_t *count, double *seconds, int64_t *results);

/* What it is, and how long it is predicted to take: of a plan what perm_plan_explain tells. */
PERM_API perm_status perm_task_explain(const perm_task *task, perm_format format, char *buffer, size_t capacity,
                                       size_t *needed);

/* At once. Errors: those of the function named. */
PERM_API perm_status perm_task_run(const perm_task *task, const perm_answer *answer);

/* Shard `number`, 0 .. *count - 1, of an estimate any from 0 on; and the answer from the partial results of all shards,
 * `count` of them in any order, some perhaps more than once. Where precision "auto" goes on to a second run, or an estimate's
 * samples prove too few, that is done here.
 * Errors: those of perm_task_run; PERM_BAD_ARGUMENT for a number that there is not, for values that are negative or complex
 * if a plan was made for others (make it with them), for a partial result that is damaged, or of another task or other
 * values, and where shards are missing: the text names the first; PERM_UNSUPPORTED for one of another version of libperm.
 * Then *partial is left cleared. */
PERM_API perm_status perm_task_run_shard(const perm_task *task, int64_t number, perm_partial *partial);
PERM_API perm_status perm_task_combine(const perm_task *task, const perm_partial *partials, int64_t count,
                                       const perm_answer *answer);

/* The task as bytes, with its matrix and plan, for other processes: buffer, capacity, needed as in perm_plan_save.
 * perm_task_load: the same task there. Of `opts` counts what the answer does not follow from: threads, limits, callbacks,
 * checkpoint, device (as in perm_plan_load); all else is the task's. Its shards may be combined with those of the first.
 * Errors: those of perm_plan_load and of the function that made it. */
PERM_API perm_status perm_task_save(const perm_task *task, void *buffer, size_t capacity, size_t *needed);
PERM_API perm_status perm_task_load(const void *bytes, size_t size, const perm_opts *opts, perm_task **task);

PERM_API perm_status perm_task_destroy(perm_task *task); /* NULL is fine */

/* ---------------------------------------------------------------- periodic matrices */

/* A matrix of `length` cells, each the same: r rows, and r columns of its own, coupled to the columns of the d cells
 * before it and behind. Strips and cylinders of lattices, circulants, banded Toeplitz matrices are such (docs/periodic.md).
 * cell: r rows and r (2 d + 1) columns, the blocks for the cells -d, ..., 0, ..., d side by side.
 * joined = 0: couplings beyond the ends are left out; 1: the cell behind the last is the first, and entries that fall
 * on one place (of a length below 2 d + 1) are added up.
 * head, tail (NULL: none; open ends alone): rows above and below those of the cells. The head's columns are p of its
 * own, 0 <= p <= d r, and the d r of the first d cells; the tail's are the d r of the last d cells, and q of its own.
 * The head's own columns are the last p of the cells that would stand before the first, so that the cells' couplings
 * reach into them, and the tail's the first q of those behind the last. Rows and columns of both together must be as
 * many. None has multiplicities. */
typedef struct perm_periodic {
    size_t struct_size;   /* sizeof(perm_periodic) */
    const perm_csr *cell;
    const perm_csr *head;
    const perm_csr *tail;
    int32_t joined;
    int32_t reserved;     /* must be 0 */
} perm_periodic;

#define PERM_PERIODIC_INIT { sizeof(perm_periodic), NULL, NULL, NULL, 0, 0 }

/* A cell by its name, with what permanents of it count:
 *   "grid:W"         perfect matchings of a strip of the square lattice W vertices wide: dominoes on a board; with
 *                    joined ends a ring of it. "grid:AxB": of a bar of the cubic lattice;
 *   "ring:W"         of a cylinder, W even vertices around; with joined ends a torus. "ring:AxB": its first side is a ring;
 *   "hexagonal:W"    of a strip of the hexagonal lattice, a brick wall W vertices wide;
 *   "circulant:K"    K ones in a row, the first on the diagonal;
 *   "toeplitz:A,B"   ones from A below the diagonal to B above it.
 * Sides and K are 1 to 1024, a cross-section has up to 4096 vertices, A and B of toeplitz are 0 to 1024. Which
 * vertices a cell has, and why an odd number of cells may be joined with a twist: docs/periodic.md.
 * Called twice: with the arrays NULL only the counts are told, n_rows, n_cols and nnz of *cell; with arrays of n_rows + 1,
 * nnz and nnz numbers, and *cell as it then is, these are filled, and *cell points to them, which stay the caller's:
 * indices of PERM_INDEX_I64, values of PERM_VALUE_I64 (2 where two edges join the same vertices).
 * cell: from PERM_CSR_INIT; other fields stay as they are. On failure nothing is written.
 * Errors: PERM_BAD_OPTION for a name that is none, with those that there are; PERM_BAD_ARGUMENT for a null pointer, for
 * some of the arrays without the others, and for other counts than the name's. */
PERM_API perm_status perm_periodic_lattice(const char *name, perm_csr *cell, int64_t *row_ptr, int64_t *col_idx,
                                           int64_t *values);

/* The matrix's operator: the frontier's steps of one cell, as a sparse matrix between the states at two cuts. */
typedef struct perm_periodic_plan perm_periodic_plan;

/* Nothing of `a` is pointed to afterwards. Of the options device, precision, tolerance, threads, limits, callbacks and
 * checkpoint count; a checkpoint is of the terms of one call, of which exact ones are kept by groups of primes (others
 * once they are there), and of no generating function or growth. *plan is NULL on failure; free it with
 * perm_periodic_destroy.
 * Errors: those of perm_compute, naming the part of the matrix; PERM_BAD_MATRIX for parts that do not fit each other;
 * PERM_REFUSED_MEMORY where the states of a cut do not fit; PERM_UNSUPPORTED for engines that this has not. Of several
 * GPUs exact numbers take all that device names, others the first. */
PERM_API perm_status perm_periodic_create(const perm_periodic *a, const perm_opts *opts, perm_periodic_plan **plan);

/* The permanent of so many cells, 0 (with joined ends 1) to 2^62. Whole numbers with precision "auto" are computed
 * exactly where that takes seconds, else in doubles with a bound; "double", "dd", "exact", "mod:P" as in perm_opts.
 * Errors: those of perm_compute; PERM_BAD_ARGUMENT for another length. */
PERM_API perm_status perm_periodic_execute(const perm_periodic_plan *plan, int64_t length, perm_result *result);

/* Those of `count` lengths from `first` on, in one walk. results: `count` of them, each from PERM_RESULT_INIT and for
 * perm_result_clear. Errors: as above; then all results are cleared. */
PERM_API perm_status perm_periodic_terms(const perm_periodic_plan *plan, int64_t first, int64_t count,
                                         perm_result *results);

/* The same as a task (above), of one length at least, with the plan's options: how the numbers are found is chosen here,
 * as this machine has it. Shards are groups of primes of exact numbers; others are one shard. A saved task holds the
 * matrix, and whoever loads it makes the plan. Errors: those of perm_periodic_terms. */
PERM_API perm_status perm_task_periodic(const perm_periodic_plan *plan, int64_t first, int64_t count, perm_task **task);

/* The permanents of all lengths as a quotient of polynomials, sum_m perm(m cells) x^m = numerator / denominator; with
 * joined ends the sum begins with m = 1. Exact; the denominator, of constant term 1, is the recurrence that they obey.
 * The text names both, and says how far it is proven; the JSON has numerator and denominator (texts, the lowest power
 * first), order, states, proven, checked. buffer, capacity and needed as in perm_plan_explain.
 * Errors: those of perm_compute; PERM_UNSUPPORTED for complex entries. */
PERM_API perm_status perm_periodic_generating_function(const perm_periodic_plan *plan, perm_format format,
                                                       char *buffer, size_t capacity, size_t *needed);

/* By what factor the permanent grows from one cell to the next, in the limit of many: the spectral radius of the
 * operator, lower <= it <= upper for certain (Collatz and Wielandt's bounds). Any of the three may be NULL. 0 where
 * no long matrix has a permanent but 0.
 * Errors: PERM_UNSUPPORTED for an entry that is negative or complex. */
PERM_API perm_status perm_periodic_growth(const perm_periodic_plan *plan, double *growth, double *lower,
                                          double *upper);

/* The order of rows, columns open at a cut, states, moves of a period. buffer, capacity and needed as in
 * perm_plan_explain; PERM_FORMAT_TEXT or PERM_FORMAT_JSON. */
PERM_API perm_status perm_periodic_explain(const perm_periodic_plan *plan, perm_format format, char *buffer,
                                           size_t capacity, size_t *needed);

/* NULL is fine. No call with it may be running. */
PERM_API perm_status perm_periodic_destroy(perm_periodic_plan *plan);

/* ---------------------------------------------------------------- the library itself */

/* "1.0.0", of the library that is loaded (PERM_VERSION_STRING is the header's). Static storage. */
PERM_API const char *perm_version(void);

/* Build, engines, GPUs, their driver and NVRTC (or why there are none), the folder of compiled kernels, processor,
 * memory, libraries; buffer, capacity and needed as in perm_plan_explain. Starts the GPUs that there are.
 * PERM_FORMAT_MACHINE: this machine as perm_opts.machine has it, with the GPUs that kernels can be compiled for.
 * PERM_FORMAT_OPTIONS: which fields of perm_opts there are and which count for which call, as JSON: "calls", "options"; "facts"
 * of each option: its "type", "unit", the "most" that it may be, all its "values", and what it is "otherwise", where it is
 * not given; and "rules" for what does not count: of the "calls", the "options", with the "values" that they may have all
 * the same, the "status" that others get (0: accepted, with nothing to do) and "why". */
PERM_API perm_status perm_info(perm_format format, char *buffer, size_t capacity, size_t *needed);

/* ---------------------------------------------------------------- compiled kernels on disk */

/* What lies in a folder of compiled kernels: the folder and, of each kernel and each order that was searched for, the last
 * used first, its file, its bytes, when it was last used (in JSON seconds since 1970), engine, n, and target or what of.
 * cache_dir: NULL for the default of perm_opts.cache_dir. A folder that is missing has no kernels, and so has one
 * that is never used, being another user's or writable by others: the text says so. Files that are no kernels,
 * or damaged, are not listed. buffer, capacity and needed as in perm_plan_explain; other processes may change
 * what lies there between two calls. */
PERM_API perm_status perm_cache_describe(const char *cache_dir, perm_format format, char *buffer,
                                         size_t capacity, size_t *needed);

/* Removes compiled kernels and orders from a folder, damaged and half written ones too; other files stay, and so does
 * the folder. *removed (may be NULL): how many files went, 0 on failure. Safe while others compute: they compile
 * again. cache_dir as above; a folder that is missing is empty.
 * Errors: PERM_BAD_OPTION when the folder is there and cannot be read. */
PERM_API perm_status perm_cache_clear(const char *cache_dir, int64_t *removed);

/* ---------------------------------------------------------------- logging */

/* What the library logs to stderr: 0 nothing, 1 errors, 2 warnings (the default), 3 decisions, 4 details.
 * The only process-wide setting there is. */
PERM_API perm_status perm_set_log_level(int level);

#ifdef __cplusplus
}
#endif

#endif
