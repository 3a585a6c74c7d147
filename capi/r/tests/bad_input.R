# What is no matrix, or no option, is told as such, by a condition that can be caught; nothing stops R.
library(libperm)
library(Matrix)

refused <- 0
is_refused <- function(call, class, text = "") {
    got <- tryCatch(call, perm_error = identity)
    if (!inherits(got, class)) stop("not refused as ", class, ": ", deparse(substitute(call)))
    if (!grepl(text, conditionMessage(got))) stop(conditionMessage(got), " is not about ", text)
    refused <<- refused + 1
}

A <- matrix(1, 2, 2)
for (missing in list(NA, NA_integer_, NA_real_, NaN, NA_complex_, NA_character_)) {
    bad <- matrix(missing, 2, 2)
    bad[1, 1] <- if (is.character(bad)) "1" else 1L
    is_refused(permanent(bad), "perm_bad_matrix", "row 2, column 1")
    is_refused(perm_marginals(bad), "perm_bad_matrix")
}
is_refused(permanent(sparseMatrix(1:2, 1:2, x = c(1, NA))), "perm_bad_matrix", "row 2, column 2")
is_refused(permanent(sparseMatrix(1:2, 1:2, x = c(TRUE, NA))), "perm_bad_matrix", "row 2, column 2")
is_refused(permanent(matrix(c(1, 2, Inf, 4), 2)), "perm_bad_matrix")
is_refused(permanent(matrix(c("1", "two", "3", "4"), 2)), "perm_bad_matrix", "two")
is_refused(permanent(matrix("", 2, 2)), "perm_bad_matrix")
for (not_one in list(NULL, 1, 1:4, "a", list(1, 2), sum, quote(x), as.name("x"), new.env(), matrix(list(1), 1, 1), factor(1:2),
                     data.frame(a = 1), array(1, c(2, 2, 2)), matrix(as.raw(1), 1, 1), ~x, Sys.time(), TRUE,
                     structure(1:4, dim = c(2L, 2L), class = "factor", levels = "a"),
                     structure(c(1, 2, 3, 4), dim = c(2L, 2L), class = "integer64"),
                     structure(as.raw(1), class = "bigz")))
    is_refused(permanent(not_one), "perm_bad_matrix")

is_refused(permanent(A, engine = "none such"), "perm_bad_option", "none such")
is_refused(permanent(A, engine = c("ryser", "tree")), "perm_bad_option")
is_refused(permanent(A, engine = NA_character_), "perm_bad_option")
is_refused(permanent(A, engine = 3), "perm_bad_option")
is_refused(permanent(A, 3), "perm_bad_option", "names")
is_refused(permanent(A, thread = 3), "perm_bad_option", "threads")
is_refused(permanent(A, threads = 1, threads = 2), "perm_bad_option", "twice")
for (threads in list(-1, 0.5, NA, NaN, Inf, 1e10, "2", 1:2, list(1))) is_refused(permanent(A, threads = threads), "perm_bad_option")
is_refused(permanent(A, memory_limit = -1), "perm_bad_option")
is_refused(permanent(A, tolerance = -1), "perm_bad_option")
is_refused(permanent(A, as = "integer"), "perm_bad_option")
is_refused(permanent(A, as = NULL), "perm_bad_option")
is_refused(permanent(matrix(0.1, 2, 2), as = "big"), "perm_bad_option")
is_refused(permanent(A, row_multiplicity = c(1, -1)), "perm_bad_matrix", "row_multiplicity")
is_refused(permanent(A, row_multiplicity = 1:3), "perm_bad_matrix", "row_multiplicity")
is_refused(permanent(A, col_multiplicity = NA_real_), "perm_bad_matrix", "col_multiplicity")
is_refused(permanent(A, col_multiplicity = 2^60), "perm_bad_matrix")
is_refused(permanent(A, row_unmatched = 1:3), "perm_bad_matrix", "row_unmatched")
is_refused(permanent(A, row_unmatched = list(1, 2)), "perm_bad_matrix")
is_refused(permanent(A, row_unmatched = NA_real_), "perm_bad_matrix")
is_refused(permanent(A, row_unmatched = Inf), "perm_bad_matrix")
is_refused(perm_marginals(-A), "perm_bad_matrix")
is_refused(perm_marginals(matrix(0, 2, 2)), "perm_bad_matrix")
is_refused(perm_marginals(A * 1i), "perm_bad_matrix")
is_refused(perm_matchings(A, row_multiplicity = 1e9, col_multiplicity = 1e9), "perm_unsupported")
is_refused(permanent(matrix(runif(60^2), 60)), "perm_refused_time")
is_refused(permanent(matrix(runif(60^2), 60), engine = "frontier", memory_limit = 1e6), "perm_error")

# Beyond the range of doubles there is a warning.
big <- diag(1e200, 3)
stopifnot(inherits(tryCatch(permanent(big), warning = identity), "warning"), permanent(big, as = "text") != "Inf")
stopifnot(abs(perm_compute(big)$log10 - 600) < 1e-9)

# A huge empty matrix takes no memory for what is not there.
stopifnot(permanent(sparseMatrix(integer(), integer(), x = numeric(), dims = c(1e5, 1e5))) == 0)
stopifnot(refused > 50)
cat(refused, "refused\n")
