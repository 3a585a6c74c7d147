perm_matchings <- function(A, ..., row_multiplicity = NULL, col_multiplicity = NULL, as = "auto") {
    kind <- kind_of(as)
    options <- options_of(...)
    matrix <- given(A, row_multiplicity, col_multiplicity)
    lines <- function(n, multiplicity) if (is.null(multiplicity)) n else sum(multiplicity)
    count <- 1 + min(lines(matrix$n_rows, matrix$row_multiplicity), lines(matrix$n_cols, matrix$col_multiplicity))
    if (count > 1e6) fail("perm_unsupported", "more than a million numbers of matchings")
    told <- checked(.Call(C_matchings, matrix, options, count))
    numbers_of(lapply(told, told_of, matrix), kind, exact_is_wanted(matrix, options))
}

perm_marginals <- function(A, ..., row_unmatched = NULL, col_unmatched = NULL) {
    A <- as_matrix(A)
    matrix <- given(A, row_unmatched = row_unmatched, col_unmatched = col_unmatched)
    told <- checked(.Call(C_marginals, matrix, options_of(...)))
    nnz <- length(matrix$col)
    rows <- nnz + seq_len(matrix$n_rows)
    cols <- nnz + matrix$n_rows + seq_len(matrix$n_cols)
    entries <- sparseMatrix(i = matrix$rows + 1, j = matrix$col + 1, x = told[[1]][seq_len(nnz)], dims = dim(A),
                            dimnames = dimnames(A))
    list(entries = if (is.matrix(A)) as(entries, "matrix") else entries, rows_unmatched = told[[1]][rows],
         cols_unmatched = told[[1]][cols], error_bound = max(0, told[[2]]), sum = told[[3]]$re)
}

perm_bounds <- function(A, ...) {
    told <- checked(.Call(C_bounds, given(A), options_of(...)))
    end <- function(side) {
        exponent <- told[[paste0(side, "_exp2")]]
        told[[paste0(side, "_mantissa")]] * 2^(exponent %/% 2) * 2^(exponent - exponent %/% 2)
    }
    list(lower = end("lower"), upper = end("upper"),
         log10_lower = log10(told$lower_mantissa) + told$lower_exp2 * log10(2),
         log10_upper = log10(told$upper_mantissa) + told$upper_exp2 * log10(2),
         of_magnitude = told$of_magnitude, exact = told$exact, methods = c(told$lower_method, told$upper_method))
}

perm_explain <- function(A, ...) {
    structure(checked(.Call(C_explain, given(A), options_of(...))), class = "perm_explained")
}

print.perm_explained <- function(x, ...) {
    cat(x)
    invisible(x)
}

perm_info <- function() cat(checked(.Call(C_info)))

perm_version <- function() .Call(C_version)
