words <- c("engine", "device", "precision", "without", "decompose", "checkpoint")
most <- c(tolerance = Inf, threads = 2^31 - 1, memory_limit = 2^53, time_limit = Inf, seed = 2^53)

# The options of a call, by the names of perm_opts in perm.h; NULL is the default.
options_of <- function(...) {
    given <- list(...)
    if (length(given) && (is.null(names(given)) || any(names(given) == "")))
        bad_option("options are given by their names, e.g. threads = 2")
    for (name in names(given)) {
        value <- given[[name]]
        if (is.null(value)) next
        if (name %in% words) is_one_word(name, value)
        else if (name %in% names(most)) is_one_number(name, value)
        else bad_option("there is no option ", name, ": there are ", paste(c(words, names(most)), collapse = ", "))
    }
    if (anyDuplicated(names(given))) bad_option("an option is given twice")
    given
}

is_one_word <- function(name, value)
    if (!is.character(value) || length(value) != 1 || is.na(value)) bad_option(name, " must be one text")

is_one_number <- function(name, value) {
    if (!is.numeric(value) || length(value) != 1 || is.na(value)) bad_option(name, " must be one number")
    if (value < 0 || value > most[[name]]) bad_option(name, " must be between 0 and ", format(most[[name]]))
    if (is.finite(most[[name]]) && value != floor(value)) bad_option(name, " must be a whole number")
}
