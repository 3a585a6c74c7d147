# Rscript in_r.R in_r.so
dyn.load(commandArgs(trailingOnly = TRUE)[1])

permanent <- function(a) {
    stopifnot(is.matrix(a), nrow(a) == ncol(a))
    found <- .C("permanent", as.double(a), nrow(a), value = 0, rel_error_bound = 0, error = "")
    if (found$error != "") stop(found$error)
    found[c("value", "rel_error_bound")]
}

cat(sprintf("%.0f\n", permanent(matrix(c(1, 2, 3, 4), 2))$value))
ones <- permanent(matrix(1, 20, 20))
cat(sprintf("%.0f, certain to 12 digits: %s\n", ones$value, ones$rel_error_bound < 1e-12))
