# An interrupt while the library works ends the call, as R's own calls end by one, and R goes on.
library(libperm)

set.seed(1)
A <- matrix(runif(40^2), 40)
pid <- Sys.getpid()
system(sprintf("(sleep 1; kill -INT %d) &", pid))
ended <- tryCatch(permanent(A, device = "cpu", time_limit = Inf), interrupt = function(condition) "interrupted")
stopifnot(identical(ended, "interrupted"))
stopifnot(permanent(matrix(1:4, 2)) == 10)
