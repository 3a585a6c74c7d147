library(libperm)

print(permanent(matrix(1:4, 2)))
print(permanent(matrix(1L, 25, 25), as = "text"))

# A sparse matrix: ones on the diagonal and beside it.
band <- Matrix::bandSparse(50, k = -1:1, diagonals = list(rep(1, 49), rep(1, 50), rep(1, 49)))
found <- perm_compute(band)
cat(found$text, found$exact, "\n")
print(perm_matchings(matrix(1L, 3, 3)))
