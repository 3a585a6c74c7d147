# Against sums over all permutations, computed here, and known numbers.
library(libperm)
library(Matrix)

seed <- as.integer(Sys.getenv("PERM_SEED", "20261126"))
cat("PERM_SEED =", seed, "\n")
set.seed(seed)

# By expansion along the first row; of more columns than rows too.
expanded <- function(A) {
    if (nrow(A) == 0) return(1)
    sum(vapply(seq_len(ncol(A)), function(j) if (A[1, j] == 0) 0 * A[1, j] else
        A[1, j] * expanded(A[-1, -j, drop = FALSE]), A[1, 1] * 1))
}
same <- function(a, b) stopifnot(length(a) == length(b), all(Mod(a - b) <= 1e-12 * Mod(b)))

compared <- 0
for (n in 1:6) for (trial in 1:4) {
    dense <- matrix(sample(-3:3, n * (n + 1), TRUE), n)[, seq_len(n + trial %% 2), drop = FALSE]
    stopifnot(identical(permanent(dense), as.double(expanded(dense))))
    same(permanent(dense * 0.5), expanded(dense * 0.5))
    same(permanent(dense * (1 + 2i)), expanded(dense * (1 + 2i)))
    stopifnot(identical(permanent(dense > 0), expanded((dense > 0) * 1)))
    same(permanent(t(dense)), expanded(dense))
    # Every kind of Matrix is the dense matrix that R makes of it.
    for (class in c("CsparseMatrix", "TsparseMatrix", "RsparseMatrix")) {
        same(permanent(as(Matrix(dense * 0.5, sparse = TRUE), class)), expanded(dense * 0.5))
        stopifnot(identical(permanent(as(as(Matrix(dense > 0, sparse = TRUE), "lMatrix"), class)),
                            expanded((dense > 0) * 1)))
        stopifnot(identical(permanent(as(as(Matrix(dense > 0, sparse = TRUE), "nMatrix"), class)),
                            expanded((dense > 0) * 1)))
        compared <- compared + 3
    }
    square <- dense[, seq_len(n), drop = FALSE]
    symmetric <- crossprod(square) * 0.5
    same(permanent(forceSymmetric(Matrix(symmetric, sparse = TRUE))), expanded(symmetric))
    same(permanent(Matrix(symmetric, sparse = FALSE)), expanded(symmetric))
}
stopifnot(compared > 200)
same(permanent(Diagonal(5)), 1)
same(permanent(Diagonal(3, 1:3)), 6)
same(permanent(as(3:1, "pMatrix")), 1)
stopifnot(permanent(Matrix(TRUE, 3, 3)) == 6, permanent(as(Matrix(TRUE, 3, 3), "nMatrix")) == 6)
# Entries that are given twice are added up.
same(permanent(sparseMatrix(c(1, 1, 2), c(1, 1, 2), x = c(1, 2, 5), repr = "T")), 15)
stopifnot(permanent(matrix(0, 0, 0)) == 1, permanent(matrix(0L, 3, 3)) == 0, permanent(matrix(FALSE, 0, 4)) == 1)

stopifnot(identical(permanent(matrix(0i, 2, 2)), 0i), identical(permanent(diag(2) * 1i), -1 + 0i))

# Beyond doubles.
ones <- permanent(matrix(1L, 25, 25), as = "text")
stopifnot(identical(ones, "15511210043330985984000000"))
stopifnot(identical(as.character(permanent(matrix(1L, 25, 25))), ones))
stopifnot(identical(permanent(matrix(TRUE, 18, 18)), factorial(18)))
stopifnot(identical(permanent(matrix(1, 25, 25), precision = "exact", as = "text"), ones))
stopifnot(is.double(permanent(matrix(1, 25, 25))))
stopifnot(identical(permanent(matrix(c("1/3", "0", "-2", "12345678901234567890"), 2), as = "text"), "4115226300411522630"))
stopifnot(identical(permanent(matrix(c("0.1", "0.2", "0.3", "0.4"), 2), as = "text"), "1/10"))
if (requireNamespace("gmp", quietly = TRUE)) {
    stopifnot(gmp::is.bigz(permanent(matrix(1L, 25, 25))), permanent(matrix(1L, 25, 25)) == gmp::factorialZ(25))
    stopifnot(permanent(gmp::as.bigq(matrix(1:4, 2)) / 3) == gmp::as.bigq(10, 9))
    stopifnot(permanent(gmp::matrix(gmp::as.bigz("100000000000000000000"), 2, 2)) == gmp::as.bigz(10)^40 * 2)
}

# What is told beside.
told <- perm_compute(matrix(0.5, 20, 20))
stopifnot(inherits(told, "perm_result"), told$rel_error_bound < 1e-12, told$tolerance_met, told$n == 20, told$nnz == 400)
same(told$value, factorial(20) / 2^20)
same(told$log10, log10(told$value))
stopifnot(perm_compute(matrix(1:4, 2))$exact, identical(as.character(perm_compute(matrix(1:4, 2))), "10"))
stopifnot(identical(capture.output(print(perm_compute(matrix(1:4, 2))))[1], format(perm_compute(matrix(1:4, 2)))))

# Multiplicities and lines that may stay unmatched: as the matrix written out.
A <- matrix(c(1, 2, 3, 4), 2)
same(permanent(A, row_multiplicity = c(2, 1), col_multiplicity = c(1, 2)), expanded(A[c(1, 1, 2), c(1, 2, 2)]))
same(permanent(A, row_unmatched = 1, col_unmatched = 1), 1 + sum(A) + expanded(A))
same(permanent(A > 1, row_unmatched = 0.5, col_unmatched = 1), 0.25 + 0.5 * 3 + 1)

# Matchings of a complete bipartite graph; marginals of a matrix whose matchings are two.
stopifnot(identical(perm_matchings(matrix(1L, 3, 3)), c(1, 9, 18, 6)))
stopifnot(identical(perm_matchings(matrix(1L, 2, 3), row_multiplicity = c(2, 1)), c(1, 9, 18, 6)))
stopifnot(identical(perm_matchings(matrix(0, 0, 0)), 1))
found <- perm_marginals(A)
same(found$entries, matrix(c(4, 6, 6, 4) / 10, 2))
stopifnot(found$sum == 10, found$error_bound < 1e-12, all(found$rows_unmatched == 0))
found <- perm_marginals(Matrix(A, sparse = TRUE), row_unmatched = 1, col_unmatched = 1)
stopifnot(is(found$entries, "sparseMatrix"), found$sum == 21)
same(as.matrix(found$entries), matrix(c(5, 8, 9, 8) / 21, 2, dimnames = list(NULL, NULL)))
same(found$rows_unmatched, c(7, 5) / 21)

bounds <- perm_bounds(matrix(1, 30, 30))
stopifnot(bounds$lower <= factorial(30) * (1 + 1e-12), bounds$upper >= factorial(30) * (1 - 1e-12), bounds$lower > 0)
stopifnot(grepl("engine", perm_explain(matrix(1, 30, 30))), nchar(perm_version()) > 4)
stopifnot(any(grepl("libperm", capture.output(perm_info()))))
stopifnot(identical(permanent(A, engine = "ryser", threads = 1, time_limit = Inf, tolerance = 1e-6, seed = 3), 10))
