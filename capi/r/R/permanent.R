permanent <- function(A, ..., as = "auto") {
    kind <- kind_of(as)
    found <- compute(A, ...)
    numbers_of(list(found$result), kind, found$exact_is_wanted)
}

perm_compute <- function(A, ...) {
    found <- compute(A, ...)
    told <- found$result
    number <- suppressWarnings(numbers_of(list(told), "auto", found$exact_is_wanted))
    structure(c(list(value = number, text = told$text, rel_error_bound = told$rel_error_bound), log10 = log10_of(told),
                told[c("abs_error_bound", "exact", "tolerance_met", "entry_rounding", "engine", "device", "n", "nnz",
                       "blocks", "threads", "peak_bytes", "seconds")]), class = "perm_result")
}

compute <- function(A, ..., row_multiplicity = NULL, col_multiplicity = NULL, row_unmatched = NULL, col_unmatched = NULL) {
    options <- options_of(...)
    matrix <- given(A, row_multiplicity, col_multiplicity, row_unmatched, col_unmatched)
    # Who writes numbers out wants them as they are written.
    if (matrix$type == value_types["character"] && is.null(options$precision)) options$precision <- "exact"
    list(result = told_of(.Call(C_compute, matrix, options), matrix), exact_is_wanted = exact_is_wanted(matrix, options))
}

# A result is complex as the matrix is, or by what is written in it.
told_of <- function(answer, matrix) {
    told <- checked(answer)
    told$is_complex <- matrix$type == value_types["complex"] || endsWith(told$text, "i")
    told
}

log10_of <- function(told) log10(Mod(complex(real = told$mantissa_re, imaginary = told$mantissa_im))) + told$exp2 * log10(2)

format.perm_result <- function(x, ...)
    paste0(x$text, if (x$exact) " (exact" else sprintf(" (within %.1e of it", x$rel_error_bound), ", by ", x$engine, ")")

print.perm_result <- function(x, ...) {
    cat(format(x), "\n", sep = "")
    invisible(x)
}

as.character.perm_result <- function(x, ...) x$text
as.double.perm_result <- function(x, ...) as.double(x$value)
