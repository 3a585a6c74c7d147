#include "work.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

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

SEXP failure(perm_status status, const char *text) {
    const char *names[] = {"status", "text", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, Rf_ScalarInteger(status));
    SET_VECTOR_ELT(list, 1, Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8)));
    Rf_setAttrib(list, R_ClassSymbol, Rf_mkString("perm_failure"));
    UNPROTECT(1);
    return list;
}

SEXP run_work(work_fn fn, perm_opts opts, void *data) {
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
