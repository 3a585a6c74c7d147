#include "told.h"

#include <string.h>

static SEXP text_or_na(const char *text) {
    return Rf_ScalarString(text ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING);
}

SEXP told_result(const perm_result *result) {
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"re", result->re},
                   {"im", result->im},
                   {"mantissa_re", result->mantissa_re},
                   {"mantissa_im", result->mantissa_im},
                   {"exp2", (double)result->exp2},
                   {"rel_error_bound", result->rel_error_bound},
                   {"abs_error_bound", result->abs_error_bound},
                   {"n", (double)result->n},
                   {"nnz", (double)result->nnz},
                   {"threads", (double)result->threads},
                   {"blocks", (double)result->blocks},
                   {"peak_bytes", (double)result->peak_bytes},
                   {"entry_rounding", result->entry_rounding},
                   {"seconds", result->seconds_total}};
    enum { count = sizeof numbers / sizeof *numbers };
    const char *names[count + 6] = {"exact", "tolerance_met", "text", "engine", "device"};
    for (int i = 0; i < count; ++i) names[5 + i] = numbers[i].name;
    names[count + 5] = "";
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, Rf_ScalarLogical(result->exact));
    SET_VECTOR_ELT(list, 1, Rf_ScalarLogical(result->tolerance_met));
    SET_VECTOR_ELT(list, 2, text_or_na(result->text));
    SET_VECTOR_ELT(list, 3, text_or_na(result->engine));
    SET_VECTOR_ELT(list, 4, text_or_na(result->device));
    for (int i = 0; i < count; ++i) SET_VECTOR_ELT(list, 5 + i, Rf_ScalarReal(numbers[i].value));
    UNPROTECT(1);
    return list;
}

SEXP told_interval(const perm_interval *interval) {
    const char *names[] = {"lower_mantissa", "lower_exp2",   "upper_mantissa",
                           "upper_exp2",     "exact",        "of_magnitude",
                           "lower_method",   "upper_method", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, Rf_ScalarReal(interval->lower_mantissa));
    SET_VECTOR_ELT(list, 1, Rf_ScalarReal((double)interval->lower_exp2));
    SET_VECTOR_ELT(list, 2, Rf_ScalarReal(interval->upper_mantissa));
    SET_VECTOR_ELT(list, 3, Rf_ScalarReal((double)interval->upper_exp2));
    SET_VECTOR_ELT(list, 4, Rf_ScalarLogical(interval->exact));
    SET_VECTOR_ELT(list, 5, Rf_ScalarLogical(interval->of_magnitude));
    SET_VECTOR_ELT(list, 6, text_or_na(interval->lower_method));
    SET_VECTOR_ELT(list, 7, text_or_na(interval->upper_method));
    UNPROTECT(1);
    return list;
}

SEXP told_numbers(const double *numbers, R_xlen_t count) {
    SEXP vector = Rf_allocVector(REALSXP, count);
    if (count) memcpy(REAL(vector), numbers, (size_t)count * sizeof *numbers);
    return vector;
}
