# A matrix as libperm takes it: the values of its entries, row by row, and their columns. Types as perm.h counts them.
value_types <- c(double = 0L, complex = 1L, integer = 2L, character = 4L)

# A matrix of R's own, or a sparse one of package Matrix.
as_matrix <- function(A) {
    if (inherits(A, "bigz") || inherits(A, "bigq")) {
        rows <- attr(A, "nrow")
        if (is.null(rows)) bad_matrix("A is a vector of big numbers, not a matrix")
        return(matrix(as.character(A), rows))
    }
    if (is(A, "sparseMatrix")) return(A)
    if (is(A, "Matrix")) A <- as(A, "matrix")
    if (inherits(A, "integer64")) bad_matrix("A is of class integer64: give its numbers as text, by as.character")
    if (is.data.frame(A)) bad_matrix("A is a data frame: as.matrix makes a matrix of it")
    if (!is.matrix(A) || is.factor(A))
        bad_matrix("A must be a matrix, or a sparse one of package Matrix, and is of class ", class(A)[1])
    if (is.logical(A)) storage.mode(A) <- "integer"
    if (!typeof(A) %in% names(value_types)) bad_matrix("entries must be numbers, logical or text, and are ", typeof(A))
    A
}

# list(rows =, cols =, values =) of all entries but zeros, in any order; lines are counted from 0.
entries_of <- function(A) {
    if (is.matrix(A)) {
        values <- as.vector(A)
        rows <- rep.int(seq_len(nrow(A)) - 1, ncol(A))
        cols <- rep(seq_len(ncol(A)) - 1, each = nrow(A))
    } else {
        A <- as(as(A, "generalMatrix"), "CsparseMatrix")
        values <- if (is(A, "nMatrix")) rep.int(1L, length(A@i)) else A@x
        if (is.logical(values)) values <- as.integer(values)
        rows <- as.double(A@i)
        cols <- rep.int(seq_len(ncol(A)) - 1, diff(A@p))
    }
    kept <- which(is.na(values) | values != 0)
    list(rows = rows[kept], cols = cols[kept], values = values[kept])
}

# What .Call takes. Behind the values stand the weights of lines that may stay unmatched; all have one type.
given <- function(A, row_multiplicity = NULL, col_multiplicity = NULL, row_unmatched = NULL, col_unmatched = NULL) {
    A <- as_matrix(A)
    dims <- as.double(dim(A))
    entries <- entries_of(A)
    missing <- which(is.na(entries$values))
    if (length(missing))
        bad_matrix(sprintf("the entry of row %.0f, column %.0f is NA or NaN", entries$rows[missing[1]] + 1,
                           entries$cols[missing[1]] + 1))
    order <- order(entries$rows, entries$cols)
    values <- c(entries$values[order], weights(row_unmatched, dims[1]), weights(col_unmatched, dims[2]))
    if (is.null(values)) values <- double()
    list(n_rows = dims[1], n_cols = dims[2],
         row_ptr = c(0, cumsum(as.double(tabulate(entries$rows + 1, dims[1])))),
         rows = entries$rows[order], col = entries$cols[order],
         type = value_types[[typeof(values)]], values = values,
         row_multiplicity = multiplicities(row_multiplicity, dims[1]),
         col_multiplicity = multiplicities(col_multiplicity, dims[2]),
         row_unmatched = !is.null(row_unmatched), col_unmatched = !is.null(col_unmatched))
}

# One number stands for that of every line.
of_each_line <- function(numbers, lines, name) {
    if (length(numbers) == 1) numbers <- rep.int(numbers, lines)
    if (length(numbers) != lines)
        bad_matrix(sprintf("%s has %d numbers for %.0f lines", name, length(numbers), lines))
    numbers
}

multiplicities <- function(numbers, lines, name = deparse(substitute(numbers))) {
    if (is.null(numbers)) return(NULL)
    if (!is.numeric(numbers) || anyNA(numbers) || any(numbers < 0 | numbers > 2^53 | numbers != floor(numbers)))
        bad_matrix(name, " must be whole numbers, 0 or more")
    as.double(of_each_line(numbers, lines, name))
}

weights <- function(numbers, lines, name = deparse(substitute(numbers))) {
    if (is.null(numbers)) return(NULL)
    if (is.logical(numbers)) numbers <- as.integer(numbers)
    if (is.object(numbers) || !typeof(numbers) %in% names(value_types) || anyNA(numbers))
        bad_matrix(name, " must be numbers, without NA")
    of_each_line(numbers, lines, name)
}
