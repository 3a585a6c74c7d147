kinds <- c("auto", "double", "text", "big")

# The numbers of results: doubles, or texts of every digit, or big numbers of package gmp. "auto" takes doubles unless
# they are exact and some double does not hold its number.
numbers_of <- function(results, kind, are_exact) {
    texts <- vapply(results, `[[`, "", "text")
    if (kind == "text") return(texts)
    if (kind == "big") {
        if (!requireNamespace("gmp", quietly = TRUE)) bad_option("as = \"big\" needs package gmp: as = \"text\" does not")
        return(big_numbers(texts))
    }
    if (kind == "double" || !are_exact || !all(grepl(whole_or_fraction, texts)) || all(is_small(texts)))
        return(doubles_of(results))
    if (requireNamespace("gmp", quietly = TRUE)) big_numbers(texts) else texts
}

whole <- "^-?[0-9]+$"
whole_or_fraction <- "^-?[0-9]+(/[0-9]+)?$"

is_small <- function(texts) grepl(whole, texts) & abs(suppressWarnings(as.double(texts))) <= 2^53

doubles_of <- function(results) {
    part <- function(name) vapply(results, `[[`, 0, name)
    if (any(vapply(results, `[[`, NA, "is_complex"))) return(complex(real = part("re"), imaginary = part("im")))
    if (any(is.infinite(part("re")) | (part("re") == 0 & part("mantissa_re") != 0)))
        warning("beyond the range of doubles: as = \"text\" has the number", call. = FALSE)
    part("re")
}

big_numbers <- function(texts) {
    if (all(grepl(whole, texts))) return(gmp::as.bigz(texts))
    if (!all(grepl(whole_or_fraction, texts)))
        bad_option("as = \"big\" is for whole numbers and fractions: precision = \"exact\" makes them")
    gmp::as.bigq(texts)
}

# Whether each digit was asked for: numbers that are no doubles, or by the precision.
exact_is_wanted <- function(matrix, options)
    matrix$type %in% value_types[c("integer", "character")] ||
        grepl("^(exact$|mod:)", if (is.null(options$precision)) "" else options$precision)

kind_of <- function(as) {
    if (!is.character(as) || length(as) != 1 || !as %in% kinds)
        bad_option("as must be one of ", paste0("\"", kinds, "\"", collapse = ", "))
    as
}
