# Errors have the library's text, and classes: "perm_error", and one of the status, e.g. "perm_refused_time".
statuses <- c("101" = "perm_bad_argument", "102" = "perm_bad_matrix", "103" = "perm_bad_option",
              "201" = "perm_refused_memory", "202" = "perm_refused_time", "203" = "perm_unsupported",
              "301" = "perm_cancelled", "401" = "perm_out_of_memory", "402" = "perm_internal", "403" = "perm_gpu_failed")

fail <- function(class, ...)
    stop(structure(class = c(class, "perm_error", "error", "condition"), list(message = paste0(...), call = NULL)))

bad_matrix <- function(...) fail("perm_bad_matrix", ...)
bad_option <- function(...) fail("perm_bad_option", ...)

# What was interrupted by the user ends as R's own computations do.
interrupt <- function() {
    signalCondition(structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL)))
    invokeRestart("abort")
}

# What .Call returned, unless it failed.
checked <- function(answer) {
    if (!inherits(answer, "perm_failure")) return(answer)
    class <- statuses[as.character(answer$status)]
    if (class == "perm_cancelled") interrupt()
    fail(class, answer$text)
}
